// SPDX-License-Identifier: Apache-2.0
// Allows one writer at a time in a folder of the store and appends complete lines. The lock is on
// the folder itself. A separate lock file would appear in every checkout, and pruning replaces the
// data file.
#pragma once

#include "base/descriptor.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

enum class LockKind { shared, exclusive };

// Waits for the advisory lock and holds it until destruction. On file systems without locks,
// proceeds without one.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& folder, LockKind kind);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

// Appends `line` and a newline to a file in a locked folder with one write(2). First adds a newline
// if the last line lacks one. Undoes a short write (disk full).
Status append_whole_line(const std::string& path, std::string_view line);

}  // namespace bench
