// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
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

}  // namespace bench
