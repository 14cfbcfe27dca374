// SPDX-License-Identifier: Apache-2.0
// The order of measurement: which worker measures which cases of a round of processes. Pure
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

// The cases of one worker process, in order.
struct WorkerBatch {
  std::optional<int> threads;
  std::vector<std::size_t> cases;  // indices into the plan
};

// Schedules all cases of `wanted` (indices into the plan) for process number `process`. Cases of
// one thread count and device share a worker. A whole network has its own worker, so that its
// creation time excludes kernels that its layers left in the library's cache. Workers and cases are
// in a random order that depends on (seed, process). Variants of one problem that differ only in
// the cache mode stay together, in random order, so that they share a kernel and its check.
std::vector<WorkerBatch> schedule_process(const Plan& plan, std::span<const std::size_t> wanted,
                                          int process, std::uint64_t seed);

// The id of a case with cache mode `hot`, which all variants of one problem share.
std::string problem_id(const CaseKey& key);

// The largest distance requested by any case; 0 if no case requests one.
Bytes largest_reuse_distance(const Plan& plan);

}  // namespace bench
