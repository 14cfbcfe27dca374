// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace bench {

Status create_folder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (!code) return Done{};
  return Error{fmt::format("cannot create the folder: {}", code.message()), path, ""};
}

}  // namespace bench
