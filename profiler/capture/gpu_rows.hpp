// SPDX-License-Identifier: Apache-2.0
// What the GPUs did below `bench profile`, as activities of its one profile.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/capture/gpu_spool.hpp"
#include "profiler/capture/nvtx_tracker.hpp"
#include "profiler/gpu/device_summary.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace bench {

struct GpuRowsReport {
  std::int64_t processes = 0;   // that were traced
  std::int64_t activities = 0;  // handed on
  std::vector<GpuDeviceSummary> devices;
  std::vector<std::string> notes;     // for people: losses, and what else they should know
  std::vector<std::string> refusals;  // why processes were not traced, each reason once
};

// Hands the sessions of all files on, one after the other, joined as join_gpu_session() does.
// `names` are of threads. Error: the sink's, or a file cannot be read.
Result<GpuRowsReport> add_gpu_rows(const std::vector<GpuSpoolFile>& files,
                                   const GpuLaunches& launches, const NvtxFacts& names,
                                   const std::set<RecordGroup>& groups, ActivitySink& sink);

}  // namespace bench
