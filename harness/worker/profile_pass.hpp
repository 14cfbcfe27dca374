// SPDX-License-Identifier: Apache-2.0
// The profile pass over one case, in a worker that times nothing. It creates the case again with
// all collectors on, warms it up without them, and records a window of its iterations. The timing
// pass has checked the result in another process and is independent of this one.
#pragma once

#include "base/env.hpp"
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

// The part of a worker's lifetime that a vendor's GPU profiler collects: nsys with
// --capture-range=cudaProfilerApi, ncu with --profile-from-start off, `bench profile` with --window
// cuda-profiler-api.

// cuProfilerStart and cuProfilerStop of the CUDA driver.
struct ProfilerCalls {
  int (*start)() = nullptr;
  int (*stop)() = nullptr;
};
// Finds the calls in a driver that this process has already loaded, or in a tool that intercepts
// it. Loads neither. Returns nullopt if there is none: then no profiler would receive the calls.
std::optional<ProfilerCalls> profiler_calls();

// The window is open while the object lives.
class ProfilerWindow {
 public:
  explicit ProfilerWindow(const std::optional<ProfilerCalls>& calls);
  ~ProfilerWindow();
  ProfilerWindow(const ProfilerWindow&) = delete;
  ProfilerWindow& operator=(const ProfilerWindow&) = delete;

 private:
  std::optional<ProfilerCalls> calls_;
};

// What the collectors of a profile pass cost per iteration: medians with and without them.

// Maximum number of pairs: half before the profiled window and half after it, each half limited to
// this time. On a machine whose single iterations differ by 10 %, the medians of 100 are accurate
// to about 1 %, half of the permitted cost.
inline constexpr std::int64_t kCostPairs = 100;
inline constexpr Nanoseconds kCostTime = std::chrono::milliseconds(500);

class ProfilerOverhead {
 public:
  using Iteration = std::function<Result<Nanoseconds>()>;  // runs one and returns its duration
  ProfilerOverhead(Clock& clock, Iteration plain, Iteration profiled);

  // Measures one half of the pairs. Returns the error of an iteration.
  Status measure_half();
  // Measures the same number of iterations of only one kind, for half the time. For collectors that
  // cannot be switched on and off between iterations.
  Status measure_plain() { return measure(plain_); }
  Status measure_profiled() { return measure(profiled_); }
  // Medians; 0 if nothing was measured.
  Nanoseconds plain() const;
  Nanoseconds profiled() const;

 private:
  // One kind of iteration.
  struct Side {
    Iteration run;
    std::vector<Nanoseconds> times;
    Status take();
  };
  Status measure(Side& side);
  Clock& clock_;
  Side plain_, profiled_;
};

struct ProfilePassContext {
  ops::Backend& backend;
  Clock& clock;
  std::optional<Bytes> available;  // available memory, if known
  Bytes arena;                     // for cold caches
  VerboseDecoder& decoder;         // belongs to this process
  const ops::OperatorRegistry& registry = ops::built_in_operators();
  // Counters of this machine's processor, for backends that compute on it and have none of their
  // own; null: there are none to read.
  ops::DeviceCounters* processor = nullptr;
};

// Captures standard output during the pass if the library prints. Whether it succeeds or fails, the
// spool contains what happened.
Result<ProfiledReply, ErrorReply> run_profile_pass(const ProfilePassContext& world,
                                                   const ProfileRequest& request);

}  // namespace bench
