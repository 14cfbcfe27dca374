// SPDX-License-Identifier: Apache-2.0
// Files as values or errors. Two ways to write: whole (temporary name, then rename) and record by
// record.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Refuses files above `limit` bytes, naming the limit.
Result<std::string> read_file(const std::string& path, std::int64_t limit);

enum class Existing { refuse, replace };

// Writes to a temporary name in the same folder, syncs, renames: readers see the old content or the
// new, never a part.
Status write_file(const std::string& path, std::string_view content, Existing existing);

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
  const std::string& path() const { return path_; }

 private:
  RecordFile(int descriptor, std::string path);

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace bench
