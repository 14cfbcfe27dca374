// SPDX-License-Identifier: Apache-2.0
// Determines the order of measurement: which worker measures which cases of a round of processes.
// Reduces plans to a part. Pure functions of plan and seed.
#pragma once

#include "harness/config/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The cases of one worker process, in the order of their measurement.
struct WorkerBatch {
  WorkerThreads threads;
  std::vector<std::size_t> cases;  // indices into the plan
};

// Schedules the cases with these indices in the plan for process number `process`. Cases with the
// same device, threads and streams share a worker. A whole network has its own worker, since
// kernels of its layers in the library's cache would shorten its creation. Workers and cases are in
// a random order that depends on (seed, process). Cases that differ only in the cache mode are
// neighbours, in random order, so that they share a kernel and its check.
std::vector<WorkerBatch> schedule_process(const Plan& plan, std::span<const std::size_t> cases,
                                          int process, std::uint64_t seed);

// Returns the id of the case with cache mode `hot`. Cases that differ only in the cache mode have
// the same problem id.
std::string problem_id(const CaseKey& key);

// Returns the largest reuse distance that a case requests; 0 if no case requests one.
Bytes largest_reuse_distance(const Plan& plan);

// Reduces the plan to one process per case, for RunOptions::under: a second process would overwrite
// the profiler's report.
Plan with_one_process(Plan plan);

}  // namespace bench
