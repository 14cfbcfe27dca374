// SPDX-License-Identifier: Apache-2.0
// The part of a worker's life that a vendor's profiler of GPUs is to collect: nsys with
// --capture-range=cudaProfilerApi, ncu with --profile-from-start off, `bench profile` with
// --window cuda-profiler-api.
#pragma once

#include <optional>

namespace bench {

// cuProfilerStart and cuProfilerStop of CUDA's driver.
struct ProfilerCalls {
  int (*start)() = nullptr;
  int (*stop)() = nullptr;
};
// Of a driver that this process has loaded already, or of a tool that stands before it; neither is
// loaded for it. Absent: there is none, and nobody would hear.
std::optional<ProfilerCalls> profiler_calls();

// Open while it lives.
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
