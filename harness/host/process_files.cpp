// SPDX-License-Identifier: Apache-2.0
#include "harness/host/process_files.hpp"

#include "base/lines.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

// Returns the path of a line of /proc/PID/maps if it maps the code of a file; empty otherwise. Such
// a line is "5581-5582 r-xp 00000000 08:01 1234    /lib/libc.so.6".
std::string_view mapped_code(std::string_view line) {
  const std::size_t permissions = line.find(' ') + 1;
  constexpr std::size_t kExecutable = 2;  // position in "r-xp"
  if (permissions == 0 || permissions + kExecutable >= line.size()) return {};
  if (line[permissions + kExecutable] != 'x') return {};
  const std::size_t path = line.find('/');
  return path == std::string_view::npos ? std::string_view() : line.substr(path);
}

}  // namespace

std::optional<ProcessFiles> read_process_files(const SystemRoot& root, pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/", pid);
  std::error_code code;
  const auto program = std::filesystem::read_symlink(root.path + folder + "exe", code);
  const std::optional<std::string> maps = read_text(root, folder + "maps");
  if (code || !maps) return std::nullopt;
  ProcessFiles files{program.string(), {}};
  std::set<std::string, std::less<>> libraries;
  for (const NumberedLine& line : Lines(*maps)) {
    const std::string_view path = mapped_code(line.text);
    if (!path.empty() && path != files.program) libraries.emplace(path);
  }
  files.libraries.assign(libraries.begin(), libraries.end());
  return files;
}

}  // namespace bench
