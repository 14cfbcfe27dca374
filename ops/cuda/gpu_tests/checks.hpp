// SPDX-License-Identifier: Apache-2.0
// Declares the checks, which are grouped in parts. Each part has its own process, because CUPTI
// settings and the effects of a failure last until the process ends.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/gpu_tests/check_kernels.hpp"
#include "ops/cuda/gpu_tests/report.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "profiler/cupti/collector.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// The tracer of a part, normally started before the device's context. If it could not be started,
// `collector` is null and `failure` is the reason.
struct StartedTracer {
  std::optional<CuptiLibrary> library;
  std::unique_ptr<CuptiCollector> collector;
  std::string failure;
};

// Times measured by events without a tracer, by the kernel's nominal time in microseconds. `device`
// is the time of one kernel, `host` the time of one launch. The part `sampling` writes the times.
struct UntracedTimes {
  std::map<std::int64_t, Nanoseconds> device, host;
  std::optional<Nanoseconds> graph;  // one node of 5 us
};

// The inputs and outputs of a check.
struct CheckRun {
  std::vector<SearchStep> search;
  CheckReport& report;
  std::string figures_file;  // empty: no figures are written
  std::string session_file;  // file for the traced session; empty: the session is not written
  StartedTracer tracer{};    // for the parts that start it
  DeviceParts device{};      // null until the context is created
};

struct CheckPart {
  std::string_view name;
  // Runs before the device's context is created. May be null.
  void (*before_context)(CheckRun& run);
  void (*check)(CheckRun& run);
};
// Returns all parts, the most valuable first.
std::span<const CheckPart> check_parts();

// Launches a kernel that takes a known time.
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

// Error: the code is not cudaSuccess. The message is `what`, then CUDA's text for the code.
Status to_cuda_status(cudaError_t code, const char* what);

// Reads the times that an earlier run of the part `sampling` has written.
UntracedTimes read_untraced(const std::string& figures_file);

void check_memory(CheckRun& run);
void check_blocking(CheckRun& run);
void check_sampling(CheckRun& run);
void check_long_graph(CheckRun& run);
void check_ceilings(CheckRun& run);
void start_tracer(CheckRun& run);
void check_tracing(CheckRun& run);
void check_late_tracing(CheckRun& run);
void check_counters(CheckRun& run);
void check_cold(CheckRun& run);
void check_verdicts(CheckRun& run);
void check_graph_level(CheckRun& run);

}  // namespace bench::ops::cuda
