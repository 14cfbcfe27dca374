// SPDX-License-Identifier: Apache-2.0
// The profile pass over one case, in a worker that times nothing. It creates the case again with
// all collectors on, warms it up without them, and records a window of its iterations. The timing
// pass has checked the result in another process and is independent of this one. A pass that
// locates a failure checks the result as well, and so does one whose case rejects engines.
#pragma once

#include "base/env.hpp"
#include "base/function_table.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/wire/messages.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bench {

// The calls below mark the part of a worker's lifetime that an external GPU profiler collects: nsys
// with --capture-range=cudaProfilerApi, ncu with --profile-from-start off, `bench profile` with
// --window cuda-profiler-api.

// cuProfilerStart and cuProfilerStop of the CUDA driver.
struct ProfilerCalls {
  BENCH_FUNCTIONS(ProfilerCalls, (start, cuProfilerStart, int (*)()),
                  (stop, cuProfilerStop, int (*)()));
};
// Finds the calls in a driver that this process has already loaded, or in a tool that intercepts
// the driver. Loads neither. Returns nullopt if neither is loaded: no profiler would then receive
// the calls.
std::optional<ProfilerCalls> find_profiler_calls();

// Calls `start` at construction and `stop` at destruction. Does nothing without calls.
class ProfilerWindow {
 public:
  explicit ProfilerWindow(const std::optional<ProfilerCalls>& calls);
  ~ProfilerWindow();
  ProfilerWindow(const ProfilerWindow&) = delete;
  ProfilerWindow& operator=(const ProfilerWindow&) = delete;

 private:
  std::optional<ProfilerCalls> calls_;
};

// Maximum number of pairs of a plain and a profiled iteration, half of them before the profiled
// window and half after it. Each half is also limited to kMaxOverheadTime. On a machine whose
// single iterations differ by 10 %, the medians of 100 are accurate to about 1 %, half of the
// permitted overhead.
inline constexpr std::int64_t kMaxOverheadPairs = 100;
inline constexpr Nanoseconds kMaxOverheadTime = std::chrono::milliseconds(500);

// Measures the overhead of a profile pass's collectors: the median duration of an iteration with
// and without them.
class ProfilerOverhead {
 public:
  using Iteration = std::function<Result<Nanoseconds>()>;  // runs one and returns its duration
  ProfilerOverhead(Clock& clock, Iteration plain, Iteration profiled);

  // Measures one half of the pairs. Returns the error of an iteration.
  Status measure_half();
  // Measure up to kMaxOverheadPairs iterations of only one kind, for at most kMaxOverheadTime. For
  // collectors that cannot be switched on and off between iterations.
  Status measure_plain() { return measure(plain_); }
  Status measure_profiled() { return measure(profiled_); }
  // Return the medians; 0 if nothing was measured.
  Nanoseconds plain() const;
  Nanoseconds profiled() const;

 private:
  // One kind of iteration.
  struct Side {
    Iteration run;
    std::vector<Nanoseconds> times;
    Status measure_once();
  };
  Status measure(Side& side);
  Clock& clock_;
  Side plain_, profiled_;
};

struct ProfilePassContext {
  ops::Backend& backend;
  Clock& clock;
  std::optional<Bytes> available;  // available memory, if known
  Bytes arena;                     // size of the arena on the host, for cold caches
  VerboseDecoder& decoder;         // of this process; knows the line formats seen so far
  const ops::OperatorRegistry& registry = ops::built_in_operators();
  // Counters of this machine's processor, for CPU backends without their own counters. Null if
  // there are none.
  ops::DeviceCounters* processor = nullptr;
};

// Runs the pass. Captures standard output during the pass if the library prints. Even if the pass
// fails, the spool contains the activities until then.
Result<ProfiledReply, ErrorReply> run_profile_pass(const ProfilePassContext& context,
                                                   const ProfileRequest& request);

}  // namespace bench
