// SPDX-License-Identifier: Apache-2.0
// Reading and writing of files; failures are returned as errors. There are two ways to write:
// - write_file() and OutputFile write a whole file under a temporary name and then rename it.
// - RecordFile writes record by record.
// Both have these rules:
// - A symbolic link is followed and kept; its target is written or replaced.
// - Only a regular file is replaced, by a rename. A device, a FIFO, and the name of an open
//   descriptor (/dev/stdout, /dev/fd/N) are opened and written in place.
// - Only temporary files that this code has created are removed.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace bench {

// Mode with which this program creates files; the umask reduces it.
inline constexpr ::mode_t kNewFileMode = 0666;

// Owns a file descriptor and closes it in the destructor. A negative number means no descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  // Releases ownership: the caller must close the returned descriptor.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Whether to read from the name of an open descriptor (/dev/stdin, or /dev/fd/N, which shells
// create for `<(command)`) even if it is a pipe or a device. Use `read` for a name that the user
// typed, and `refuse` for a name inside a file, which must not make the program wait.
enum class OpenDescriptors { read, refuse };

// Opens a file for reading. Returns an error immediately for everything except a regular file or a
// folder: a FIFO would wait for a writer, and a device may never end.
Result<Descriptor> open_input(const std::string& path,
                              OpenDescriptors descriptors = OpenDescriptors::read);

// Returns the whole content. Refuses files above `limit` bytes; the error states the limit.
Result<std::string> read_file(const std::string& path, std::int64_t limit,
                              OpenDescriptors descriptors = OpenDescriptors::read);

// What to do with a file that exists.
enum class Existing { refuse, replace };

// Returns the part before the last '/': "." for a bare name, "/" for a file in the root.
std::string parent_folder(const std::string& path);
// Returns the path without symbolic links, as far as it exists; `path` itself if they cannot be
// read.
std::string resolve_path(const std::string& path);

// Returns an error if the file cannot be written. Call this before long work that produces the
// content. Does not open a FIFO or a device.
Status check_output(const std::string& path, Existing existing);

// Writes a temporary file in the same folder, syncs it and renames it. So readers of a regular file
// see either the old or the new content, never a part.
Status write_file(const std::string& path, std::string_view content, Existing existing);

// Writes a file like write_file(), for content that is too large for memory. append() writes to the
// temporary file and commit() renames it. Without a commit, the destructor removes the temporary
// file. Owns its descriptor. Not thread-safe.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path, Existing existing);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  Status append(std::string_view content);
  Status commit();  // must be the last call
  const std::string& path() const { return path_; }

 private:
  OutputFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
  std::string target_;     // target of the rename
  std::string temporary_;  // empty if written in place (a device or pipe) or committed
  Existing existing_ = Existing::refuse;
};

// An append-only file, one write(2) per record under its final name, so that complete lines stay
// readable even after a crash. The file gets its name together with its first record. Until then an
// old file keeps its content; without a record no file is created. Owns its descriptor. Not
// thread-safe.
class RecordFile {
 public:
  // Checks that the file can be created. Refuses a file that another RecordFile is writing. If two
  // RecordFiles are created before either has a record, the first one that appends a record
  // continues. append() of the other returns an error.
  static Result<RecordFile> create(const std::string& path, Existing existing);
  // For --resume: removes an incomplete last line (one without a newline). Records are appended
  // after the last complete line.
  static Result<RecordFile> reopen(const std::string& path);

  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();

  // Appends `line` and a newline. A short write (disk full) is undone, so that the file ends with a
  // complete line.
  Status append(std::string_view line);
  // The same for several lines, each ending in a newline, with one write(2).
  Status append_lines(std::string_view lines);
  const std::string& path() const { return path_; }

 private:
  RecordFile(int descriptor, std::string path);
  Status write_first(int descriptor, const std::string& temporary, std::string_view lines);
  Status create_with(std::string_view lines);

  int descriptor_ = -1;  // -1 before the first record, unless written in place
  int replaced_ = -1;    // holds the lock of the file that the first record replaces
  std::string path_;
  std::string target_;  // target of the rename at the first record
  Existing existing_ = Existing::refuse;
};

}  // namespace bench
