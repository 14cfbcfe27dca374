// SPDX-License-Identifier: Apache-2.0
// Files as values or errors. Two ways to write: whole (temporary name, then rename), at once or
// piece by piece, and record by record.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Refuses files above `limit` bytes, naming the limit.
Result<std::string> read_file(const std::string& path, std::int64_t limit);

enum class Existing { refuse, replace };

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
// stay readable. Owns its descriptor. Not thread-safe.
class RecordFile {
 public:
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

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace bench
