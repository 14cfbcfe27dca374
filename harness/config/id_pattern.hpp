// SPDX-License-Identifier: Apache-2.0
// One --filter: a GLOB for the complete case id, or a /REGEX/ that matches anywhere in it.
#pragma once

#include "base/pattern.hpp"
#include "base/result.hpp"

#include <string>
#include <utility>
#include <variant>

namespace bench {

class IdPattern {
 public:
  static Result<IdPattern> compile(const std::string& filter);
  bool matches(const std::string& id) const;

 private:
  using Glob = std::string;
  explicit IdPattern(std::variant<Glob, Regex> pattern) : pattern_(std::move(pattern)) {}
  std::variant<Glob, Regex> pattern_;
};

}  // namespace bench
