// SPDX-License-Identifier: Apache-2.0
// The checks, in the order in which they must run: tracing slows down what follows it.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/gpu_tests/check_kernels.hpp"
#include "ops/cuda/gpu_tests/report.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// What a check works with, and what earlier ones leave for later ones.
struct CheckRun {
  DeviceParts device;
  std::vector<SearchStep> search;
  CheckReport& report;
  std::string session_file;  // of the traced session; empty: it is not kept
  // Of kernels that take so many microseconds, by events, without a tracer: of the device for one,
  // and of the host for one launch.
  std::map<std::int64_t, Nanoseconds> untraced, untraced_host;
  std::optional<Nanoseconds> untraced_graph;  // one node of 5 us
};

// A kernel that takes a known time.
class SpinInvocation final : public SingleStepInvocation {
 public:
  SpinInvocation(Runtime& device, Nanoseconds time, LaunchShape shape = {})
      : SingleStepInvocation(device), time_(time), shape_(shape) {}
  std::int64_t launches() const override { return 1; }

 private:
  Status launch() override;

  Nanoseconds time_;
  LaunchShape shape_;
};

Status launched(cudaError_t code, const char* what);

void check_memory(CheckRun& run);
void check_blocking(CheckRun& run);
void check_sampling(CheckRun& run);  // fills `untraced`
void check_ceilings(CheckRun& run);
void check_tracing(CheckRun& run);
// Each in a process of its own: what CUPTI was asked for stays so until the process ends.
void check_counters(CheckRun& run);
void check_graph_level(CheckRun& run);

}  // namespace bench::ops::cuda
