// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/nearest_name.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

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

// Returns the sorted names in a folder; none if it cannot be read. Stops after kMaxNames, so that
// an error in a large folder does not take long.
std::vector<std::string> list_names_in(const std::filesystem::path& folder) {
  constexpr std::size_t kMaxNames = 1000;
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator entry(folder, code), end;
       !code && entry != end && names.size() < kMaxNames; entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// Returns what to do about a path that does not exist. Suggests the name that is nearest to the
// first missing part of the path, or names the missing folder.
std::string missing_file_advice(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path existing = fs::path(path).is_absolute() ? "/" : ".";
  fs::path shown;
  for (const fs::path& part : fs::path(path)) {
    if (fs::exists(existing / part, code)) {
      existing /= part;
      shown /= part;
      continue;
    }
    const std::vector<std::string> names = list_names_in(existing);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const auto near = nearest_name(part.string(), candidates);
    if (near) return fmt::format("did you mean `{}`?", (shown / *near).string());
    const bool is_folder = shown / part != fs::path(path);
    return is_folder ? fmt::format("the folder `{}` does not exist", (shown / part).string())
                     : "check the path";
  }
  return "check the path";
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

std::optional<struct stat> stat_path(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool is_special(const struct stat& status) {
  return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::string_view describe_file_kind(::mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode)) return "a character device";
  return S_ISBLK(mode) ? "a block device" : "a socket";
}

// Returns 0, or the errno of the first failure; `written` counts the bytes written.
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

// Returns the folder of `path` with its links resolved, or unresolved if it does not exist.
std::string resolve_folder(const std::string& path) {
  const std::string folder = parent_folder(path);
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : folder;
}

// The file at the end of a chain of symbolic links, whether it exists or not.
struct LinkEnd {
  std::string path;
  bool is_descriptor = false;  // the name of an open file: /dev/stdout, /dev/fd/3, /proc/self/fd/3
};

Result<LinkEnd> follow_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the limit of the Linux kernel
  LinkEnd end{path};
  for (int links = 0; links <= kMaxLinks; ++links) {
    std::error_code code;
    const std::filesystem::path next = std::filesystem::read_symlink(end.path, code);
    if (code) return end;  // not a link, or no such file
    const std::string folder = resolve_folder(end.path);
    if (folder.starts_with("/proc/") && folder.ends_with("/fd")) {
      end.is_descriptor = true;
      return end;
    }
    end.path = next.is_absolute() ? next.string() : folder + "/" + next.string();
  }
  return system_error("open the file", path, ELOOP);
}

// The destination of output.
struct Destination {
  std::string target;                 // path after all links
  std::optional<struct stat> before;  // status of the existing file; nullopt if there is none
  bool in_place = false;              // a device, FIFO or descriptor, which a rename would replace
};

Result<Destination> resolve_destination(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(LinkEnd end, follow_links(path));
  Destination result{std::move(end.path), stat_path(path)};
  if (result.before && S_ISDIR(result.before->st_mode))
    return system_error("open the file for writing", path, EISDIR);
  result.in_place = result.before && (end.is_descriptor || is_special(*result.before));
  if (result.before && !result.in_place && existing == Existing::refuse) return exists_error(path);
  return result;
}

// Returns a descriptor for writing in place, or a negative number with errno set.
int open_in_place(const Destination& destination) {
  // A descriptor that this process already has open is shared, not opened again. A second offset
  // into the same file would overwrite what the first one wrote.
  const std::string own = fmt::format("/proc/{}/fd", ::getpid());
  const std::string name = std::filesystem::path(destination.target).filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (resolve_folder(destination.target) == own && error == std::errc() &&
      end == name.data() + name.size()) {
    return ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  }
  return open_retrying(destination.target, O_WRONLY | O_APPEND | O_NOCTTY);
}

// Call this immediately after the failed open(2), whose errno it reads.
Error folder_error(const std::string& target, const std::string& path) {
  const int code = errno;
  return system_error(fmt::format("create a file in {}", parent_folder(target)), path, code);
}

// Opens a new file in the folder of `target`, so that a rename can replace it; stores its name in
// `path`. Skips leftovers of a killed process with the same process id.
int open_temporary(const std::string& target, std::string& path) {
  constexpr int kAttempts = 100;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts && descriptor < 0; ++attempt) {
    path = fmt::format("{}.tmp-{}-{}", target, ::getpid(), attempt);
    descriptor = open_retrying(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

Status move_into_place(const std::string& temporary, const std::string& path, Existing existing) {
  if (existing == Existing::refuse) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
      return Done{};
    if (errno == EEXIST) return exists_error(path);
    // If the file system does not support RENAME_NOREPLACE, a hard link replaces it. Without hard
    // links, only the check before the write protects an existing file.
    if (errno != EINVAL && errno != ENOSYS) return system_error("rename the file", path, errno);
    if (::link(temporary.c_str(), path.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return Done{};
    }
    if (errno == EEXIST) return exists_error(path);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return system_error("rename the file", path, errno);
  return Done{};
}

// A rename survives a power failure only after its folder is on disk.
void sync_folder(const std::string& path) {
  const Descriptor folder(open_retrying(parent_folder(path), O_RDONLY | O_DIRECTORY));
  if (folder.get() >= 0) ::fsync(folder.get());
}

// Takes the advisory lock of an open file, so that two runs never write one file. Succeeds without
// a lock on file systems that do not support locks (ENOLCK, ENOTSUP).
Status lock(int descriptor, const std::string& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return Done{};
  return Error{"another process is writing this file", path,
               "wait until it ends or choose another file"};
}

// Opens and locks a file that is about to be replaced. Opens it for writing, because a rename would
// also replace a write-protected file.
Result<Descriptor> lock_existing(const std::string& target, const std::string& path) {
  Descriptor file(open_retrying(target, O_WRONLY | O_APPEND));
  if (file.get() < 0) return system_error("open the file for writing", path, errno);
  BENCH_RETURN_IF_ERROR(lock(file.get(), path));
  return file;
}

// Checks whether a file can be created in the folder of `target`: creates one and removes it.
Status check_folder(const std::string& target, const std::string& path) {
  std::string temporary;
  const Descriptor file(open_temporary(target, temporary));
  if (file.get() < 0) return folder_error(target, path);
  ::unlink(temporary.c_str());
  return Done{};
}

// Returns the offset just after the last newline, 0 if there is no newline, or -errno on failure.
::off_t find_end_of_last_line(int descriptor, ::off_t size) {
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

std::string parent_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string resolve_path(const std::string& path) {
  std::error_code code;
  const auto resolved = std::filesystem::weakly_canonical(path, code);
  return code ? path : resolved.string();
}

Result<Descriptor> open_input(const std::string& path, OpenDescriptors descriptors) {
  BENCH_ASSIGN_OR_RETURN(const LinkEnd end, follow_links(path));
  const bool is_special_permitted = end.is_descriptor && descriptors == OpenDescriptors::read;
  const auto refuse = [&](const struct stat& status) {
    return Error{fmt::format("is {}, not a regular file", describe_file_kind(status.st_mode)), path,
                 "name a file; pass a command's output as `<(command)`"};
  };
  // Checked before opening: opening a device can have effects, and a FIFO's writer would notice.
  const auto before = stat_path(path);
  if (before && is_special(*before) && !is_special_permitted) return refuse(*before);
  const int flags = is_special_permitted ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY;
  Descriptor file(open_retrying(path, flags));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    const int code = errno;
    Error error = system_error("open the file", path, code);
    if (code == ENOENT) error.next = missing_file_advice(path);
    return error;
  }
  if (is_special(status) && !is_special_permitted) return refuse(status);
  return file;
}

Result<std::string> read_file(const std::string& path, std::int64_t limit,
                              OpenDescriptors descriptors) {
  BENCH_ASSIGN_OR_RETURN(const Descriptor file, open_input(path, descriptors));
  std::string content;
  std::string block(65536, '\0');
  for (;;) {
    const ::ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read the file", path, errno);
    if (count == 0) return content;
    content.append(block, 0, static_cast<std::size_t>(count));
    if (std::ssize(content) > limit) {
      return Error{
          fmt::format("the file is larger than the limit of {}", format_bytes(Bytes{limit})), path,
          ""};
    }
  }
}

Status check_output(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(const Destination destination, resolve_destination(path, existing));
  return destination.in_place ? Status(Done{}) : check_folder(destination.target, path);
}

Status write_file(const std::string& path, std::string_view content, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, existing));
  BENCH_RETURN_IF_ERROR(file.append(content));
  return file.commit();
}

Result<OutputFile> OutputFile::create(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(Destination destination, resolve_destination(path, existing));
  if (destination.in_place) {
    OutputFile file(open_in_place(destination), path);
    if (file.descriptor_ < 0) return system_error("open the file for writing", path, errno);
    return file;
  }
  std::string temporary;
  OutputFile file(open_temporary(destination.target, temporary), path);
  if (file.descriptor_ < 0) return folder_error(destination.target, path);
  file.target_ = std::move(destination.target);
  file.temporary_ = std::move(temporary);
  file.existing_ = existing;
  const auto& before = destination.before;
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
    : descriptor_(std::exchange(other.descriptor_, -1)),
      replaced_(std::exchange(other.replaced_, -1)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      existing_(other.existing_) {}

RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(replaced_, other.replaced_);
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(existing_, other.existing_);
  return *this;
}

RecordFile::~RecordFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (replaced_ >= 0) ::close(replaced_);
}

Result<RecordFile> RecordFile::create(const std::string& path, Existing existing) {
  BENCH_ASSIGN_OR_RETURN(Destination destination, resolve_destination(path, existing));
  if (destination.in_place) {
    RecordFile file(open_in_place(destination), path);
    if (file.descriptor_ < 0) return system_error("open the file for writing", path, errno);
    return file;
  }
  RecordFile file(-1, path);
  file.target_ = std::move(destination.target);
  file.existing_ = existing;
  if (destination.before) {
    BENCH_ASSIGN_OR_RETURN(Descriptor locked, lock_existing(file.target_, path));
    file.replaced_ = locked.release();
  }
  BENCH_RETURN_IF_ERROR(check_folder(file.target_, path));
  return file;
}

// Writes the first records to the temporary file and renames it to the target.
Status RecordFile::write_first(int descriptor, const std::string& temporary,
                               std::string_view lines) {
  struct stat before {};
  if (replaced_ >= 0 && ::fstat(replaced_, &before) == 0 &&
      ::fchmod(descriptor, before.st_mode & 07777) != 0)
    return system_error("set the mode of the file", path_, errno);
  BENCH_RETURN_IF_ERROR(lock(descriptor, path_));
  std::size_t written = 0;
  const int code = write_all(descriptor, lines, written);
  if (code != 0) return system_error("append to the file", path_, code);
  if (replaced_ >= 0) return move_into_place(temporary, target_, Existing::replace);
  const Status moved = move_into_place(temporary, target_, Existing::refuse);
  const bool has_appeared = !moved && existing_ == Existing::replace && stat_path(target_);
  if (!has_appeared) return moved;
  // Another process has created the file since create() and may still be writing it.
  BENCH_ASSIGN_OR_RETURN(const Descriptor locked, lock_existing(target_, path_));
  return move_into_place(temporary, target_, Existing::replace);
}

Status RecordFile::create_with(std::string_view lines) {
  std::string temporary;
  Descriptor file(open_temporary(target_, temporary));
  if (file.get() < 0) return folder_error(target_, path_);
  if (Status status = write_first(file.get(), temporary, lines); !status) {
    ::unlink(temporary.c_str());
    return status;
  }
  descriptor_ = file.release();
  if (replaced_ >= 0) ::close(std::exchange(replaced_, -1));
  return Done{};
}

Result<RecordFile> RecordFile::reopen(const std::string& path) {
  Descriptor file(open_retrying(path, O_RDWR | O_APPEND));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    return system_error("open the file for writing", path, errno);
  if (!S_ISREG(status.st_mode))
    return Error{"cannot be continued: it is not a regular file", path, "name the file of a run"};
  BENCH_RETURN_IF_ERROR(lock(file.get(), path));
  const ::off_t end = find_end_of_last_line(file.get(), status.st_size);
  if (end < 0) return system_error("read the file", path, static_cast<int>(-end));
  if (end < status.st_size && ::ftruncate(file.get(), end) != 0)
    return system_error("cut the incomplete last line", path, errno);
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
  if (lines.empty()) return Done{};
  if (descriptor_ < 0) return create_with(lines);
  struct stat before {};
  const bool can_truncate = ::fstat(descriptor_, &before) == 0 && S_ISREG(before.st_mode);
  std::size_t written = 0;
  const int code = write_all(descriptor_, lines, written);
  if (code == 0) return Done{};
  Error error = system_error("append to the file", path_, code);
  if (can_truncate && written > 0 && ::ftruncate(descriptor_, before.st_size) != 0)
    error.what += " (and its last line is incomplete)";
  return error;
}

}  // namespace bench
