// SPDX-License-Identifier: Apache-2.0
// The final messages of `bench profile`: how much it recorded, and why it did not record more.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/capture/gpu_rows.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace bench {

// The tools that the CUDA driver was asked to load into the program.
struct CudaCapture {
  std::string library;                    // our injection library; empty: missing or not requested
  std::optional<std::string> other_tool;  // a tool that the user has set; loaded instead
};

// What a capture recorded, after merging.
struct CaptureOutcome {
  SpoolReport spool;
  GpuRowsReport gpu;
  std::int64_t activities = 0;  // in the profile
  std::int64_t recorded = 0;    // of these, without the times of the processes
  WallCoverage coverage;
  std::string samples;  // describe_samples()
  // Some records are missing because the program could not write them while it ran.
  bool is_incomplete = false;
  std::string verdict = {};  // format_verdict() of the profile; empty if it was not audited
};

// What a capture was asked to record.
struct CaptureSettings {
  std::set<RecordGroup> kinds;
  CaptureWindow window;
  CudaCapture cuda;
  std::int64_t sample_rate = 0;
  std::string program = "bench";                   // Arguments::program
  std::optional<ProgramTimes> program_times = {};  // known after the program ended
  std::int64_t started = 0;     // when the program started, in seconds since 1970
  std::string sampled_by = {};  // what took the samples, in words; empty without samples
  // Measures what a record cost the program; nullptr: not measured.
  Clock* clock = nullptr;
  // Why oneDNN, NVTX ranges and GPUs are invisible, while samples are not; usually nullopt.
  std::optional<std::string> obstacle = {};
};

// Returns whether any of the groups contains GPU activities.
bool records_devices(const std::set<RecordGroup>& kinds);

// Returns lines that explain why no profile could be made from `spool`, and how to use the spool.
std::string merge_failure(const Error& error, const CaptureSettings& settings,
                          const std::string& spool);

// Returns the final messages, as lines that begin with "bench profile: ". `file` is the path of the
// profile.
std::string capture_summary(const CaptureOutcome& outcome, const CaptureSettings& settings,
                            const std::string& file);

}  // namespace bench
