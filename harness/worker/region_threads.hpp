// SPDX-License-Identifier: Apache-2.0
// The threads of OpenMP parallel regions that the calling thread starts. Each thread that starts
// regions has a pool of its own.
#pragma once

#include <vector>

namespace bench {

// From now on, parallel regions of the calling thread have this many threads.
void set_region_threads(int threads);

// Binds each thread of the calling thread's parallel regions to one of these processors, in their
// order. The calling thread is moved to the first one but may still run on all of them: the runtime
// ends and creates threads whenever the size of a region changes, and a created thread inherits the
// binding of its creator. Expects one processor per thread.
void bind_region_threads(const std::vector<int>& processors);

}  // namespace bench
