// SPDX-License-Identifier: Apache-2.0
// The processors and threads of this process, and work that is distributed over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bench {

// Returns the processors of this thread's affinity mask and, if an OpenMP runtime is loaded, those
// of all its places. If OMP_PROC_BIND or OMP_PLACES is set, the runtime binds the first thread to
// its first place, so the mask alone has only the processors of that place.
std::vector<int> usable_processors();

// Permits the calling thread these processors; threads that it creates inherit this. Changes
// nothing if none of the processors exists.
void set_processors(std::span<const int> processors);

// Returns the threads of this process by the kernel's numbers, in ascending order. Empty if /proc
// cannot be read.
std::vector<int> own_threads();

// Returns how often the system has taken a processor from a thread of this process that still had
// work.
std::int64_t count_preemptions();

// Calls work(item, thread) once for each item below `items`, in any order, and returns when all
// calls have returned. `thread` is below min(items, processors.size()); calls with the same
// `thread` do not overlap. Each thread may run on all of `processors`. With one thread, the calling
// thread does the work. `work` must not throw.
void run_in_parallel(std::size_t items, std::span<const int> processors,
                     const std::function<void(std::size_t item, std::size_t thread)>& work);

}  // namespace bench
