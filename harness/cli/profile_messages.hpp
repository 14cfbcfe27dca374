// SPDX-License-Identifier: Apache-2.0
// The final messages of `bench profile`: how much it recorded, and why it did not record more.
#pragma once

#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "profiler/capture/gpu_rows.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace bench {

// What the CUDA driver should have loaded into programs.
struct CudaCapture {
  std::string library;                    // empty: there is none, or no GPU data was requested
  std::optional<std::string> other_tool;  // set by the user, used instead
};

struct CaptureOutcome {
  SpoolReport spool;
  GpuRowsReport gpu;
  std::int64_t activities = 0;  // in the profile
  // Some records are missing because the program could not write them while it ran.
  bool is_incomplete = false;
};

struct CaptureQuestion {
  std::set<RecordGroup> kinds;
  CaptureWindow window;
  CudaCapture cuda;
  std::int64_t sample_rate = 0;
  std::string program = "bench";  // beginning of command lines that are printed for copying
};

// Returns whether any of the groups contains GPU activities.
bool records_devices(const std::set<RecordGroup>& kinds);

// Explains why no profile could be made from `spool`, and what happens to the spool; complete
// lines.
std::string merge_failure(const Error& error, const CaptureQuestion& question,
                          const std::string& spool);

// Lines that begin with "bench profile: ". `file` is the path of the profile.
std::string capture_summary(const CaptureOutcome& outcome, const CaptureQuestion& question,
                            const std::string& file);

}  // namespace bench
