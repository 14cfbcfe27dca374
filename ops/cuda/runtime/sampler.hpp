// SPDX-License-Identifier: Apache-2.0
// Takes samples on a device's clock.
//
// stream: a blocking kernel holds the stream while launches queue up behind it. The launches then
// run between two events without waiting for the host. A stream's queue is limited: launches that
// do not fit follow after the blocking kernel is released.
// graph: the executions are recorded once, and the graph is replayed instead of the launches.
// Both methods follow nvbench (NVIDIA/nvbench, detail/measure_cold.cu). The multiprocessor clock is
// read before the first event and after the second (detail/gpu_frequency.cxx).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/cuda/runtime/conditions.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct SamplerOptions {
  // Launches queued behind a blocking kernel. A stream takes 1024 before a launch waits, which here
  // would be a deadlock. The rest is a reserve for libraries that launch more than expected.
  std::int64_t queued_launches = 512;
  // Maximum launches in one graph: each launch costs time and memory when the graph is
  // instantiated. A rotation with more launches is nevertheless one graph.
  std::int64_t graph_launches = 4096;
  // On a busy host, a kernel shorter than this takes less time than its launch.
  Nanoseconds graph_below = std::chrono::microseconds(20);
  // Between two launches of a stream there is a gap of 1 to 1.5 us, which the events include. A
  // graph is replayed if the gaps may exceed this fraction of an execution.
  double max_gap_fraction = 0.01;
  // Time limit of the blocking kernel. Launching normally takes less.
  Nanoseconds block_limit = std::chrono::seconds(2);
};

// The sampler's state for one kernel: its method, recorded graphs, earlier clocks.
class KernelSampling {
 public:
  explicit KernelSampling(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}
  KernelSampling(const KernelSampling&) = delete;
  KernelSampling& operator=(const KernelSampling&) = delete;
  ~KernelSampling();

  // Describes the method and its reason, human-readable: "graph: shorter than 120.0 us" or "stream;
  // up to 1.200 us between launches, 0.4 % of an execution". The gap is at most `floor`
  // (Sampler::launch_floor; nullopt: unknown). Adds other findings of sample(): "the queue holds
  // few launches". Empty before the first sample.
  std::string method(std::optional<Nanoseconds> floor = std::nullopt) const;
  // Whether samples were taken.
  bool sampled() const { return execution_time_.count() > 0; }

 private:
  friend class Sampler;
  struct Graph {
    std::vector<std::uint64_t> invocations;  // numbers of the invocations that it executes
    cudaGraphExec_t graph = nullptr;
  };
  std::shared_ptr<Runtime> runtime_;
  std::string method_text_;
  std::optional<SampleMethod> chosen_method_;  // method chosen for requests with `any`
  std::string no_graph_reason_;  // why no graph can be recorded; empty if it can, or was not tried
  bool is_warm_ = false;
  // Launches that may wait behind a blocking kernel. nullopt: as many as the options say. Lowered
  // after the blocking kernel's limit has expired.
  std::optional<std::int64_t> queue_limit_;
  bool is_graph_unblocked_ = false;  // a graph's launch cannot wait behind the blocking kernel
  // Data of the last sample.
  SampleMethod used_method_ = SampleMethod::any;
  Nanoseconds execution_time_{0};
  std::int64_t launches_per_execution_ = 1;  // maximum
  ClockHistory clocks_;
  std::deque<Graph> graphs_;  // least recently used first
};

// One per process. The runtime must outlive it.
class Sampler {
 public:
  // Error: memory or events cannot be allocated, or the sampler's own kernels do not run.
  static Result<std::shared_ptr<Sampler>> create(std::shared_ptr<Runtime> runtime,
                                                 ConditionWatch watch,
                                                 const SamplerOptions& options = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // `request.rotation` must be CudaInvocations of one kernel, and `sampling` that kernel's state.
  // The first invocation is executed once before the kernel's first sample, because loading code
  // needs the device, which a blocking kernel occupies. If launching takes longer than the blocking
  // kernel waits, fewer launches of this kernel are queued from then on. A graph that cannot be
  // queued even then is launched without the blocking kernel. Error: an execution failed, or
  // launching took too long even with few launches.
  Result<DeviceSample> sample(KernelSampling& sampling, const SampleRequest& request);

  // Returns the device's time for one empty kernel among many, which is an upper bound for the gap
  // between two launches. Measured at the first call. Do not call it under a tracer: the tracer's
  // setup may delay a launch for as long as the blocking kernel occupies the device. Returns
  // nullopt if it could not be measured.
  std::optional<Nanoseconds> launch_floor();
  // Names the unknown conditions, which do not affect the verdicts. Empty if all are known.
  std::string unknown_conditions() const { return watch_.unknown_conditions(); }

 private:
  struct Batch;    // what one sample enqueues
  struct Control;  // memory shared with the device
  struct Timing;   // the measured times
  Sampler(std::shared_ptr<Runtime> runtime, ConditionWatch watch, const SamplerOptions& options);
  Status prepare();
  Result<Timing> measure(const Batch& batch, std::optional<std::int64_t>& queue_limit);
  Result<Timing> measure_graph(KernelSampling& sampling, Batch batch);
  // Lowers `queue_limit` if the blocking kernel's limit expired. Returns nullopt if it expired even
  // with few launches.
  Result<std::optional<Timing>> measure_behind_block(Batch batch,
                                                     std::optional<std::int64_t>& queue_limit);
  // Returns nullopt if the blocking kernel's limit expired.
  Result<std::optional<Timing>> measure_once(const Batch& batch);
  Status enqueue_all(const Batch& batch, Timing& timing);
  Result<DeviceSample> take_sample(KernelSampling& sampling, const SampleRequest& request,
                                   SampleMethod method);
  Result<DeviceSample> take_graph_sample(KernelSampling& sampling, const SampleRequest& request);
  Result<DeviceSample> choose_and_take_sample(KernelSampling& sampling,
                                              const SampleRequest& request);
  Result<cudaGraphExec_t> find_or_make_graph(KernelSampling& sampling, const SampleRequest& request,
                                             std::int64_t executions);
  static std::int64_t count_launches(const SampleRequest& request);
  Nanoseconds min_stream_execution_time(const SampleRequest& request);
  Batch stream_batch(const SampleRequest& request) const;
  Result<Batch> graph_batch(KernelSampling& sampling, const SampleRequest& request);
  std::optional<std::int64_t> compute_clock() const;
  void release_block();

  std::shared_ptr<Runtime> runtime_;
  ConditionWatch watch_;
  const SamplerOptions options_;
  MappedMemory control_memory_;
  cudaEvent_t begin_event_ = nullptr, end_event_ = nullptr;
  std::optional<std::optional<Nanoseconds>> launch_floor_;
};

}  // namespace bench::ops::cuda
