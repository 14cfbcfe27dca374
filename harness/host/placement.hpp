// SPDX-License-Identifier: Apache-2.0
// Threads on processors: which processors a worker uses, and the environment that makes it do so.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Physical cores with those of their processors that this process may use (inherited mask); cores
// without one are left out. In the order of hwloc.
using Cores = std::vector<std::vector<int>>;
Cores allowed_cores();

// Processors of the threads, one each. threads absent: all allowed processors, the first of each
// core first. threads = n: the first n physical cores, then their siblings. Error: more threads
// than processors.
Result<std::vector<int>> place_threads(std::optional<int> threads, const Cores& cores);

// Spins 0.4 ms after a parallel region instead of about 4: a pool that waits sleeps soon, and
// regions of one iteration still find it awake (docs/worker_protocol.md).
inline constexpr const char* kSpinCount = "20000";

// The whole environment of a worker: the inherited one without what steers OpenMP or Google
// Benchmark, then threads and pinning, then `overrides`.
std::map<std::string, std::string> worker_environment(
    const std::map<std::string, std::string>& inherited, const std::vector<int>& processors,
    const std::map<std::string, std::string>& overrides);

// What the run record says about it: "omp_num_threads", "omp_places", "gomp_spincount", and what
// the user set for the library ("env.ONEDNN_VERBOSE").
std::map<std::string, std::string> environment_details(
    const std::map<std::string, std::string>& environment);

}  // namespace bench
