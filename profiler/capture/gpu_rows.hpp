// SPDX-License-Identifier: Apache-2.0
// Converts GPU work under `bench profile` into activities of the same profile.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/capture/gpu_spool.hpp"
#include "profiler/gpu/device_summary.hpp"
#include "profiler/nvtx/nvtx_tracker.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace bench {

struct GpuRowsReport {
  std::int64_t processes = 0;   // number of traced processes
  std::int64_t activities = 0;  // number of forwarded activities
  std::vector<GpuDeviceSummary> devices;
  std::vector<std::string> notes;             // human-readable: losses and other information
  std::vector<std::string> untraced_reasons;  // why processes were not traced, each reason once
};

// Forwards the sessions of all files, one after the other, joined by join_gpu_session(). `names`
// contains the thread names. Returns an error if the sink fails or a file cannot be read.
Result<GpuRowsReport> add_gpu_rows(const std::vector<GpuSpoolFile>& files,
                                   const GpuLaunches& launches, const NvtxFacts& names,
                                   const std::set<RecordGroup>& groups, ActivitySink& sink);

}  // namespace bench
