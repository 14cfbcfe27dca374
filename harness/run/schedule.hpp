// SPDX-License-Identifier: Apache-2.0
// The order of measuring: which worker measures which cases of a round of processes. Pure
// functions of plan and seed.
#pragma once

#include "harness/config/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Cases of one worker process, in order.
struct WorkerBatch {
  std::optional<int> threads;
  std::vector<std::size_t> cases;  // indices into the plan
};

// All cases of `wanted` (indices into the plan), for process number `process`: cases of one thread
// count and device share a worker, a network measured as one has its own (so that its creation time
// is not that of kernels its layers left in the library's cache). Workers and cases stand in a
// random order of (seed, process); variants of one problem that differ only in the cache mode stay
// together, in random order, so that they share a kernel and its check.
std::vector<WorkerBatch> schedule_process(const Plan& plan, std::span<const std::size_t> wanted,
                                          int process, std::uint64_t seed);

// The id of a case with cache mode `hot`: what variants of one problem have in common.
std::string problem_id(const CaseKey& key);

// The largest that any case asks for; 0 where none does.
Bytes largest_reuse_distance(const Plan& plan);

}  // namespace bench
