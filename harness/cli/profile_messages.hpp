// SPDX-License-Identifier: Apache-2.0
// What `bench profile` says at the end: how much it has, and why it has no more.
#pragma once

#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "profiler/capture/gpu_rows.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/capture/window.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace bench {

// What the CUDA driver was to load into programs.
struct CudaCapture {
  std::string library;                    // empty: there is none, or nothing of GPUs was asked for
  std::optional<std::string> other_tool;  // of the user, in its place
};

struct CaptureOutcome {
  SpoolReport spool;
  GpuRowsReport gpu;
  std::int64_t activities = 0;  // in the profile
  // Records of the program that could not be written while it ran are missing.
  bool is_incomplete = false;
};

struct CaptureQuestion {
  std::set<RecordGroup> kinds;
  CaptureWindow window;
  CudaCapture cuda;
  std::int64_t sample_rate = 0;
  std::string program = "bench";  // what a command line to paste begins with
};

// Whether any of the groups has rows of GPUs.
bool records_devices(const std::set<RecordGroup>& kinds);

// Why a profile could not be made of `spool`, and what becomes of that: whole lines.
std::string merge_failure(const Error& error, const CaptureQuestion& question,
                          const std::string& spool);

// Lines that begin with "bench profile: ". `file` is the profile's.
std::string capture_summary(const CaptureOutcome& outcome, const CaptureQuestion& question,
                            const std::string& file);

}  // namespace bench
