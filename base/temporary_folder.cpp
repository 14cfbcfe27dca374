// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bench {

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  // Not std::filesystem::temp_directory_path(), which rejects a bad TMPDIR without naming it.
  const char* base = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/bench-{}-XXXXXX", base != nullptr ? base : "/tmp", purpose);
  if (mkdtemp(path.data()) == nullptr) {
    return Error{"cannot make a temporary folder: " + std::generic_category().message(errno), path,
                 "set TMPDIR to a folder that is writable"};
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

}  // namespace bench
