// SPDX-License-Identifier: Apache-2.0
// The part of a worker's lifetime that a vendor's GPU profiler collects: nsys with
// --capture-range=cudaProfilerApi, ncu with --profile-from-start off, `bench profile` with --window
// cuda-profiler-api.
#pragma once

#include <optional>

namespace bench {

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

}  // namespace bench
