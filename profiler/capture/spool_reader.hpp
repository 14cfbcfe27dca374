// SPDX-License-Identifier: Apache-2.0
// What the library that `bench profile` preloads left in its spool (spool_format.hpp), as
// activities.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/capture/framework_range.hpp"
#include "profiler/capture/gpu_launches.hpp"
#include "profiler/capture/nvtx_tracker.hpp"
#include "profiler/capture/window.hpp"
#include "profiler/reader.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace bench {

struct SpoolReport {
  ReadReport read;
  std::int64_t processes = 0;        // programs that loaded the library
  std::set<std::string> onednn;      // files that held oneDNN in processes that ended themselves
  std::set<std::string> cuda;        // files that held the CUDA driver in them
  std::int64_t lines_of_onednn = 0;  // verbose lines of any kind
  std::int64_t executed = 0;         // primitives, in the window
  Nanoseconds executed_time{0};      // their sum
  std::int64_t ranges = 0;           // of NVTX, and marks, in the window
  std::int64_t ranges_seen = 0;      // in the window or not
  bool window_was_open = false;
  NvtxFacts facts;  // for a second pass over the same spool
};

// Turns a frame "FILE+0xADDRESS" of a backtrace into text for people. A spool from elsewhere must
// not make us open the files that it names: empty leaves frames as they are.
using FrameName = std::function<std::string(std::string_view frame)>;

struct SpoolOptions {
  FrameName frame_name = {};
  CaptureWindow window = {};
  FrameworkWorkOf work_of = {};
  NvtxFacts facts = {};  // of a first pass; without it threads have no names and some operators of
                         // frameworks no results' shapes
  // The counter `resident_bytes` after every n-th primitive that a process executed in the window,
  // where the spool has it; 0: none.
  std::int64_t sample_rate = 0;
  GpuLaunches* launches = nullptr;  // of the same processes, sorted: they get their holders
};

// Activities in the order in which they ended, unfinished ones when their process or thread ended.
// Error: the sink's, or the source cannot be read.
Result<SpoolReport> read_spool(TextSource& source, ActivitySink& sink, const SpoolOptions& options);

}  // namespace bench
