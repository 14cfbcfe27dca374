// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include "base/characters.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {

Status create_folder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (!code) return Done{};
  return Error{fmt::format("cannot create the folder: {}", code.message()), path, ""};
}

Status check_output_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> missing;  // the innermost folder first
  for (fs::path folder = fs::path(path).lexically_normal();
       !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) {
    if (folder.has_filename()) missing.push_back(folder);
  }
  Status status = create_folder(path);
  if (status) status = check_output(path + "/file", Existing::replace);
  for (const fs::path& folder : missing) fs::remove(folder, ignored);
  return status;
}

std::string file_stem(std::string_view text) {
  // The name stays readable. With a prefix, a hash, a run id and an extension it stays shorter than
  // a file system's limit of 255 bytes.
  constexpr std::size_t kMaxStem = 150;
  std::string stem;
  for (const char c : text.substr(0, kMaxStem)) {
    const bool is_kept = is_word(c) || c == '+' || c == '-' || (c == '.' && !stem.empty());
    stem += is_kept ? c : '-';
  }
  if (text.size() > kMaxStem) stem += content_hash(text);
  return stem;
}

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
