// SPDX-License-Identifier: Apache-2.0
// Converts the spool of the library that `bench profile` preloads (spool_format.hpp) into
// activities.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/capture/code_names.hpp"
#include "profiler/capture/process_spans.hpp"
#include "profiler/capture/sample_spool.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/nvtx/gpu_launches.hpp"
#include "profiler/nvtx/nvtx_tracker.hpp"
#include "profiler/nvtx/window.hpp"
#include "profiler/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace bench {

struct Sampling {
  Nanoseconds period{0};  // of CPU time; 0: no samples
  std::int64_t lost = 0;  // periods whose sample could not be kept
};

struct SpoolReport {
  Sampling sampling;
  ReadReport read;
  std::int64_t processes = 0;                  // number of programs that loaded the library
  std::map<std::int64_t, std::int64_t> ranks;  // key: process; those of a distributed job
  std::set<std::string> onednn;  // paths of modules with oneDNN in processes that ended normally
  std::set<std::string> cuda;    // paths of modules with the CUDA driver in these processes
  std::int64_t lines_of_onednn = 0;  // verbose lines of any kind
  std::int64_t executed = 0;         // primitives in the window
  Nanoseconds executed_time{0};      // their total time
  std::int64_t ranges = 0;           // NVTX ranges and marks in the window
  std::int64_t ranges_seen = 0;      // inside the window or not
  bool window_was_open = false;
  NvtxFacts facts;  // for a second pass over the same spool
};

struct SpoolOptions {
  CodeLookup code = {};  // names of backtraces and samples
  CaptureWindow window = {};
  FrameworkWorkProvider compute_work = {};
  // facts from a first pass. Without them, threads have no names and some framework operators have
  // no output shapes
  NvtxFacts facts = {};
  // Record the counter `resident_bytes` after every n-th primitive that a process executed in the
  // window; 0 for never. Has no effect if the spool contains no resident sizes.
  std::int64_t sample_rate = 0;
  // When the first process of the spool was started and had ended, which its own records cannot
  // state.
  std::optional<ProgramTimes> program = {};
  // Samples that the system took of the same processes. read_spool() takes them.
  SampleSpool* samples = nullptr;
  // Launches of the same processes, after GpuLaunches::sort(). read_spool() sets their holders.
  GpuLaunches* launches = nullptr;
};

// Activities come in the order in which they ended. Unfinished ones come when their process or
// thread ended. For each process, one activity `process` states when it ran: from its start or, if
// this is unknown, its first record, until its last record. With a window there is one for each
// time that the window was open. Returns an error if the sink fails or the source cannot be read.
Result<SpoolReport> read_spool(TextSource& source, ActivitySink& sink, const SpoolOptions& options);

// Finds where the stack of a primitive leaves oneDNN.
struct StackFrame {
  std::string_view raw;   // as recorded by the capture: "FILE+0xADDRESS"
  std::string_view file;  // path of the module
  std::string name;       // function name and what follows it; empty if unknown
};

// Returns the number of frames at the top that belong to oneDNN, including its C++ header. The next
// frame is the caller. If another module contains oneDNN without function names, unnamed frames of
// that module count as oneDNN's. Returns 0 if all frames would count, because then the caller is
// unknown.
std::size_t count_library_frames(std::span<const StackFrame> frames);

}  // namespace bench
