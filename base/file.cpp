// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/descriptor.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

struct Advice {
  int code;
  std::string_view next;
};
constexpr Advice kAdvice[] = {
    {ENOENT, "check the path"},
    {EACCES, "check the permissions of the file and its folder"},
    {EROFS, "choose another folder"},
    {ENOSPC, "free some space or choose another file system"},
    {EDQUOT, "free some space or choose another file system"},
    {EFBIG, "raise the limit of the file size (ulimit -f)"},
    {EISDIR, "name a file"},
};

Error system_error(std::string_view action, const std::string& path, int code) {
  Error error{fmt::format("cannot {}: {}", action, std::generic_category().message(code)), path,
              ""};
  for (const Advice& row : kAdvice) {
    if (row.code == code) error.next = row.next;
  }
  return error;
}

Error exists_error(const std::string& path) {
  return Error{"the file exists already", path, "replace it with --force or choose another name"};
}

int open_retrying(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, kNewFileMode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// A device or pipe: written in place, since a rename would put a plain file where it was.
bool is_special(const std::optional<struct stat>& status) {
  return status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

// 0, or the errno of the first failure; `written` counts what arrived.
int write_all(int descriptor, std::string_view content, std::size_t& written) {
  written = 0;
  while (written < content.size()) {
    const ::ssize_t count = ::write(descriptor, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    written += static_cast<std::size_t>(count);
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The file that a chain of symbolic links ends at, so that a rename keeps the links.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

// A new file beside `target`, so that a rename can replace it; its name goes to `path`. Leftovers
// of a killed process with our number are passed over.
int open_temporary(const std::string& target, std::string& path) {
  constexpr int kAttempts = 100;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts && descriptor < 0; ++attempt) {
    path = fmt::format("{}.tmp-{}-{}", target, ::getpid(), attempt);
    descriptor = open_retrying(path, O_WRONLY | O_CREAT | O_EXCL);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

Status move_into_place(const std::string& temporary, const std::string& path, Existing existing) {
  if (existing == Existing::refuse) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
      return Done{};
    if (errno == EEXIST) return exists_error(path);
    // Some file systems know no RENAME_NOREPLACE; the check before the write must do there.
    if (errno != EINVAL && errno != ENOSYS) return system_error("rename the file", path, errno);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return system_error("rename the file", path, errno);
  return Done{};
}

// A rename survives a power failure only once its folder is on disk.
void sync_folder(const std::string& path) {
  const Descriptor folder(open_retrying(folder_of(path), O_RDONLY | O_DIRECTORY));
  if (folder.get() >= 0) ::fsync(folder.get());
}

// Takes the advisory lock, so that two runs never write one file. File systems without locks
// (ENOLCK, ENOTSUP) go without.
Status lock(int descriptor, const std::string& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return Done{};
  return Error{"another process is writing this file", path,
               "wait until it ends or choose another file"};
}

// Offset just after the last newline, 0 when there is none; negative: -errno.
::off_t end_of_last_line(int descriptor, ::off_t size) {
  constexpr ::off_t kBlock = 65536;
  std::string block;
  for (::off_t end = size; end > 0;) {
    const ::off_t begin = end > kBlock ? end - kBlock : 0;
    block.resize(static_cast<std::size_t>(end - begin));
    const ::ssize_t count = ::pread(descriptor, block.data(), block.size(), begin);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if (count == 0) return -EIO;
    const auto newline = block.rfind('\n', static_cast<std::size_t>(count) - 1);
    if (newline != std::string::npos) return begin + static_cast<::off_t>(newline) + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::int64_t limit) {
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (file.get() < 0) return system_error("open the file", path, errno);
  std::string content;
  std::string block(65536, '\0');
  while (static_cast<std::int64_t>(content.size()) <= limit) {
    const ::ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read the file", path, errno);
    if (count == 0) return content;
    content.append(block, 0, static_cast<std::size_t>(count));
  }
  return Error{fmt::format("the file is larger than the limit of {}", format_bytes(Bytes{limit})),
               path, ""};
}

Status write_file(const std::string& path, std::string_view content, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, existing));
  BENCH_RETURN_IF_ERROR(file.append(content));
  return file.commit();
}

Result<OutputFile> OutputFile::create(const std::string& path, Existing existing) {
  const auto before = status_of(path);
  if (before && S_ISDIR(before->st_mode))
    return system_error("open the file for writing", path, EISDIR);
  if (is_special(before)) {
    OutputFile file(open_retrying(path, O_WRONLY), path);
    if (file.descriptor_ < 0) return system_error("open the file for writing", path, errno);
    return file;
  }
  if (before && existing == Existing::refuse) return exists_error(path);
  std::string target = resolved(path);
  std::string temporary;
  OutputFile file(open_temporary(target, temporary), path);
  if (file.descriptor_ < 0)
    return system_error("create a file in this folder", folder_of(path), errno);
  file.target_ = std::move(target);
  file.temporary_ = std::move(temporary);
  file.existing_ = existing;
  if (before && ::fchmod(file.descriptor_, before->st_mode & 07777) != 0)
    return system_error("set the mode of the file", path, errno);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      existing_(other.existing_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(existing_, other.existing_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::append(std::string_view content) {
  std::size_t written = 0;
  const int code = write_all(descriptor_, content, written);
  if (code != 0) return system_error("write the file", path_, code);
  return Done{};
}

Status OutputFile::commit() {
  if (temporary_.empty()) return Done{};
  if (::fsync(descriptor_) != 0) return system_error("write the file", path_, errno);
  BENCH_RETURN_IF_ERROR(move_into_place(temporary_, target_, existing_));
  temporary_.clear();
  sync_folder(target_);
  return Done{};
}

RecordFile::RecordFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

RecordFile::~RecordFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<RecordFile> RecordFile::create(const std::string& path, Existing existing) {
  const bool special = is_special(status_of(path));
  const int exclusive = existing == Existing::refuse && !special ? O_EXCL : 0;
  Descriptor file(open_retrying(path, O_WRONLY | O_APPEND | O_CREAT | exclusive));
  if (file.get() < 0 && errno == EEXIST) return exists_error(path);
  if (file.get() < 0) return system_error("open the file for writing", path, errno);
  if (special) return RecordFile(file.release(), path);
  BENCH_RETURN_IF_ERROR(lock(file.get(), path));
  // Only now: a file that another run writes must not lose its content.
  if (::ftruncate(file.get(), 0) != 0) return system_error("write the file", path, errno);
  return RecordFile(file.release(), path);
}

Result<RecordFile> RecordFile::reopen(const std::string& path) {
  Descriptor file(open_retrying(path, O_RDWR | O_APPEND));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    return system_error("open the file for writing", path, errno);
  BENCH_RETURN_IF_ERROR(lock(file.get(), path));
  const ::off_t end = end_of_last_line(file.get(), status.st_size);
  if (end < 0) return system_error("read the file", path, static_cast<int>(-end));
  if (end < status.st_size && ::ftruncate(file.get(), end) != 0)
    return system_error("cut the torn last line", path, errno);
  return RecordFile(file.release(), path);
}

Status RecordFile::append(std::string_view line) {
  assert(line.find('\n') == std::string_view::npos);
  std::string record(line);
  record += '\n';
  return append_lines(record);
}

Status RecordFile::append_lines(std::string_view lines) {
  assert(lines.empty() || lines.back() == '\n');
  struct stat before {};
  const bool known = ::fstat(descriptor_, &before) == 0 && S_ISREG(before.st_mode);
  std::size_t written = 0;
  const int code = write_all(descriptor_, lines, written);
  if (code == 0) return Done{};
  Error error = system_error("append to the file", path_, code);
  if (known && written > 0 && ::ftruncate(descriptor_, before.st_size) != 0)
    error.what += " (and its last line is torn)";
  return error;
}

}  // namespace bench
