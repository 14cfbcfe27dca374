// SPDX-License-Identifier: Apache-2.0
// Creating folders, also temporary ones.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Creates the folder and its parents. Succeeds if it exists. The error gives the system's reason;
// the caller may add what to do next.
Status create_folder(const std::string& path);

// A new folder accessible only to this user. It is removed with its content at the end.
class TemporaryFolder {
 public:
  // Creates "bench-PURPOSE-......" in TMPDIR, else in /tmp. Returns an error if that is not a
  // folder or not writable.
  static Result<TemporaryFolder> create(std::string_view purpose);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  std::string file(std::string_view name) const;

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty if moved from
};

}  // namespace bench
