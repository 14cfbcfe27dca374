// SPDX-License-Identifier: Apache-2.0
// The address of a history in a database: `sqlite:FILE` or `postgresql://...`. Its password must
// never be printed. Pure functions.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace bench {

BENCH_ENUM(DatabaseKind, sqlite, postgresql);

class DatabaseUrl {
 public:
  // Returns an error if the scheme is unknown or nothing follows it.
  static Result<DatabaseUrl> parse(std::string_view url);

  DatabaseKind kind() const { return kind_; }
  // The file of `sqlite:`, or the URL for libpq with its password. Not for messages.
  const std::string& target() const { return target_; }
  // Returns the URL for messages, with `***` instead of a password.
  const std::string& shown() const { return shown_; }
  // Returns the text without this URL's password, in which `***` replaces it. For messages of
  // libraries, which may repeat the URL.
  std::string redact(std::string text) const;

 private:
  DatabaseKind kind_ = DatabaseKind::sqlite;
  std::string target_, shown_, password_, decoded_password_;
};

}  // namespace bench
