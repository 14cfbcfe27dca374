// SPDX-License-Identifier: Apache-2.0
// Chooses the processors of a worker's threads, and the environment variables that pin the threads.
#pragma once

#include "base/result.hpp"
#include "base/worker_threads.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Restores this thread's affinity mask after an OpenMP runtime was loaded. If OMP_PROC_BIND or
// OMP_PLACES is set, the runtime binds the first thread to its first place. The mask then has only
// the processors of that place. This function adds those of all places. It does nothing if no
// places are set. Workers must not call it, since they need the binding.
void restore_inherited_processors();

// The processors of each physical core.
using Cores = std::vector<std::vector<int>>;
// Returns the physical cores in the order of hwloc, each with the processors that this process may
// use (inherited mask). Omits cores without such a processor.
Cores allowed_cores();
int count_processors(const Cores& cores);

// Returns one processor per thread: first the first processor of each core, then the second ones,
// and so on. If `threads` is nullopt, returns all processors. Returns an error if there are more
// threads than processors.
Result<std::vector<int>> place_threads(std::optional<int> threads, const Cores& cores);

// The processors of each stream of a worker. A worker without streams has one list.
using StreamProcessors = std::vector<std::vector<int>>;
// Shares the processors that place_threads() returns among the streams (share_threads()). All
// processors of a core go to the same stream as far as the shares permit, and a stream has
// neighbouring cores, so that streams share as few caches as possible. Without streams, the
// processors are in the order of place_threads(). Returns an error if there are more threads than
// processors or more streams than threads.
Result<StreamProcessors> place_streams(const WorkerThreads& threads, const Cores& cores);

// Environment variable of a worker with streams: their processors, "0,1;2,3". The OpenMP runtime
// binds the threads of any parallel region to its first places, whichever thread starts the region.
// So a worker with streams has no places and binds its threads itself.
inline constexpr const char* kStreamsVariable = "BENCH_STREAMS";
std::string format_stream_processors(const StreamProcessors& streams);
// Returns nullopt if the text has another form.
std::optional<StreamProcessors> parse_stream_processors(std::string_view text);

// GOMP_SPINCOUNT of workers. Threads spin 0.4 ms after a parallel region instead of about 4 ms.
// Thus a waiting thread pool sleeps soon, but stays awake between the regions of one iteration
// (docs/worker_protocol.md).
inline constexpr const char* kSpinCount = "20000";

// Returns the complete environment of a worker. Starts with the inherited variables, except those
// that control OpenMP or Google Benchmark and those that make oneDNN print what it does. Then sets
// the variables for threads and pinning, then `overrides`. `streams` has at least one list.
std::map<std::string, std::string> worker_environment(
    const std::map<std::string, std::string>& inherited, const StreamProcessors& streams,
    const std::map<std::string, std::string>& overrides);

// Returns those variables of an environment that workers inherit and that decide what they load and
// run: the user's variables for the library under test, for the loader and for bench's plugins.
std::map<std::string, std::string> inherited_variables(
    const std::map<std::string, std::string>& environment);

// Returns the variables of a worker's environment that the run record contains. Examples are
// "omp_num_threads", and with the prefix "env." the user's variables for the library
// ("env.ONEDNN_MAX_CPU_ISA").
std::map<std::string, std::string> environment_details(
    const std::map<std::string, std::string>& environment);
// Returns the variable of such a detail if workers inherit it: "LD_LIBRARY_PATH" for
// "ld_library_path". Returns nullopt for other details.
std::optional<std::string> variable_of_detail(std::string_view detail);

}  // namespace bench
