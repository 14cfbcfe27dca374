// SPDX-License-Identifier: Apache-2.0
// One writer at a time in a folder of the store, and lines that arrive whole. The lock is the
// folder's own: a file of its own would lie in every checkout, and the data file changes its
// identity when it is pruned.
#pragma once

#include "base/descriptor.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

enum class LockKind { shared, exclusive };

// Waits for the advisory lock and holds it until destruction. File systems without locks go
// without.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& folder, LockKind kind);

 private:
  explicit FolderLock(Descriptor folder) : folder_(std::move(folder)) {}
  Descriptor folder_;
};

// Appends `line` and a newline to a file in a locked folder with one write(2), after a newline
// where the last line lacks its own. A short write (disk full) is cut back.
Status append_whole_line(const std::string& path, std::string_view line);

}  // namespace bench
