// SPDX-License-Identifier: Apache-2.0
// The CPU threads of a worker process, and how the streams of a case share them. A stream is one
// instance of a case; the streams of a case run side by side in one process.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <optional>
#include <vector>

namespace bench {

struct WorkerThreads {
  std::optional<int> count = std::nullopt;  // nullopt: all processors
  int streams = 1;
  friend auto operator<=>(const WorkerThreads&, const WorkerThreads&) = default;
};

// Returns an error if there are more streams than threads, since each stream needs a thread.
Status check_streams(int streams, int threads);

// Returns the number of threads of each stream. If the threads cannot be shared equally, the first
// streams have one more than the others: 7 threads for 2 streams are 4 and 3. Requires
// 1 <= streams <= threads.
std::vector<int> share_threads(int threads, int streams);

}  // namespace bench
