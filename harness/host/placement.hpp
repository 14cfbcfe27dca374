// SPDX-License-Identifier: Apache-2.0
// Placement of threads: which processors a worker uses, and the environment that enforces this.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Restores the affinity mask that the library's OpenMP runtime changes when it is loaded. If
// OMP_PROC_BIND or OMP_PLACES is set, the runtime binds the first thread to its first place, and
// the inherited mask then shows only one processor. Afterwards this thread's mask contains all
// places again. Does nothing if no places are set. Not for workers, which need the binding.
void restore_inherited_processors();

// Physical cores, each with those of its processors that this process may use (inherited mask).
// Omits cores without such a processor. In the order of hwloc.
using Cores = std::vector<std::vector<int>>;
Cores allowed_cores();

// Returns one processor per thread. If threads is nullopt: all allowed processors, the first of
// each core first. If threads is n: the first n physical cores, then their siblings. Returns an
// error if there are more threads than processors.
Result<std::vector<int>> place_threads(std::optional<int> threads, const Cores& cores);

// Makes threads spin 0.4 ms after a parallel region instead of about 4 ms. A waiting pool then
// sleeps soon, and the regions of one iteration still find it awake (docs/worker_protocol.md).
inline constexpr const char* kSpinCount = "20000";

// The whole environment of a worker: the inherited one without the variables that control OpenMP or
// Google Benchmark, then threads and pinning, then `overrides`.
std::map<std::string, std::string> worker_environment(
    const std::map<std::string, std::string>& inherited, const std::vector<int>& processors,
    const std::map<std::string, std::string>& overrides);

// The details of the environment in the run record: "omp_num_threads", "omp_places",
// "gomp_spincount", and the user's variables for the library ("env.ONEDNN_VERBOSE").
std::map<std::string, std::string> environment_details(
    const std::map<std::string, std::string>& environment);

}  // namespace bench
