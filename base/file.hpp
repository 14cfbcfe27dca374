// SPDX-License-Identifier: Apache-2.0
// Files as values or errors. Two ways to write: whole (temporary name, then rename), at once or
// piece by piece, and record by record. What is true of both:
// - A symbolic link is followed and stays; its target is what is written or replaced.
// - Only a regular file is replaced, by a rename. A device, a FIFO, and the name of an open
// descriptor
//   (/dev/stdout, /dev/fd/N) are opened and written as they are, and exist before and after.
// - Nothing is removed but files that were made here under a temporary name.
#pragma once

#include "base/descriptor.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Whether the name of an open descriptor (/dev/stdin, /dev/fd/N, which shells make of `<(command)`)
// is read whatever it is: if the user named it. A name in a file must not make a program wait.
enum class OpenDescriptors { read, refuse };

// Opens a file to be read. What is neither a regular file nor a folder is refused, at once: a FIFO
// would wait for a writer, a device may never end.
Result<Descriptor> open_input(const std::string& path,
                              OpenDescriptors descriptors = OpenDescriptors::read);

// Opens as open_input() does. Hands the content of a file to `take` in blocks of up to 64 KiB; ends
// with its first error.
Status read_blocks(const std::string& path, const std::function<Status(std::string_view)>& take,
                   OpenDescriptors descriptors = OpenDescriptors::read);
// The whole content. Refuses files above `limit` bytes, naming the limit.
Result<std::string> read_file(const std::string& path, std::int64_t limit,
                              OpenDescriptors descriptors = OpenDescriptors::read);

enum class Existing { refuse, replace };

// What stands before the last '/': "." for a bare name, "/" for what lies in the root.
std::string folder_of(const std::string& path);

// Whether a file can be written as things are now, for what is written only after hours of work. No
// FIFO or device is opened.
Status check_output(const std::string& path, Existing existing);

// Writes to a temporary name in the same folder, syncs, renames: readers see the old content or the
// new, never a part.
Status write_file(const std::string& path, std::string_view content, Existing existing);

// The same for content too long to hold: appended under the temporary name, renamed by commit().
// Owns its descriptor; without a commit nothing is left behind. Not thread-safe.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path, Existing existing);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  Status append(std::string_view content);
  Status commit();  // the last call
  const std::string& path() const { return path_; }

 private:
  OutputFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
  std::string target_;     // of the rename
  std::string temporary_;  // empty: written in place (a device or pipe), or committed
  Existing existing_ = Existing::refuse;
};

// An append-only file, one write(2) a record under its final name: whatever happens, whole lines
// stay readable. The file gets its name together with its first record: until then an old file
// keeps its content, and without a record nothing is there. Owns its descriptor. Not thread-safe.
class RecordFile {
 public:
  // Checks that the file can be made. Refuses a file that another RecordFile writes; of two that
  // were created before either has a record, the one with the first record goes on.
  static Result<RecordFile> create(const std::string& path, Existing existing);
  // For --resume: cuts a torn last line (one without a newline) and appends after it.
  static Result<RecordFile> reopen(const std::string& path);

  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();

  // Appends `line` and a newline. A short write (disk full) is cut back, so that the file ends with
  // a whole line.
  Status append(std::string_view line);
  // The same for several lines, each ending in a newline, with one write(2).
  Status append_lines(std::string_view lines);
  const std::string& path() const { return path_; }

 private:
  RecordFile(int descriptor, std::string path);
  Status write_first(int descriptor, const std::string& temporary, std::string_view lines);
  Status claim(std::string_view lines);

  int descriptor_ = -1;  // none before the first record, unless written in place
  int replaced_ = -1;    // keeps the lock of the file that the first record replaces
  std::string path_;
  std::string target_;  // of the first record's rename
  Existing existing_ = Existing::refuse;
};

}  // namespace bench
