// SPDX-License-Identifier: Apache-2.0
#include "harness/store/locked_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

Error system_error(std::string_view action, const std::string& path, int code) {
  return {fmt::format("cannot {}: {}", action, std::generic_category().message(code)), path,
          "check the permissions and the space of this folder"};
}

bool ends_without_newline(int descriptor, ::off_t size) {
  char last = '\n';
  return size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::string& folder, LockKind kind) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (opened.get() < 0) return system_error("open the folder", folder, errno);
  const int operation = kind == LockKind::exclusive ? LOCK_EX : LOCK_SH;
  while (::flock(opened.get(), operation) != 0 && errno == EINTR) continue;
  return FolderLock(std::move(opened));
}

Status append_whole_line(const std::string& path, std::string_view line) {
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kNewFileMode));
  struct stat before {};
  if (file.get() < 0 || ::fstat(file.get(), &before) != 0)
    return system_error("open the file for writing", path, errno);
  const bool torn = ends_without_newline(file.get(), before.st_size);
  const std::string text = fmt::format("{}{}\n", torn ? "\n" : "", line);
  ::ssize_t written = 0;
  do {
    written = ::write(file.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<::ssize_t>(text.size())) return Done{};
  Error error = system_error("append to the file", path, written < 0 ? errno : ENOSPC);
  if (written > 0 && ::ftruncate(file.get(), before.st_size) != 0)
    error.what += " (and its last line is incomplete)";
  return error;
}

}  // namespace bench
