// SPDX-License-Identifier: Apache-2.0
// Samples on a device's clock.
//
// stream: a blocking kernel holds the stream back while launches queue up behind it; then they run
// without waiting for the host, between two events. A stream's queue has an end: what does not fit
// is launched after the block's release. graph: the executions, recorded once, are replayed in the
// place of the launches. Both after nvbench (NVIDIA/nvbench, detail/measure_cold.cu); the clock of
// the processors is read before the first event and behind the second (detail/gpu_frequency.cxx).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/cuda/runtime/condition_watch.hpp"
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
  // Behind a blocking kernel. A stream takes 1024 before a launch waits, which would be for ever;
  // the rest is for what a library launches beyond what was expected of it.
  std::int64_t queued_launches = 512;
  // In one graph: instantiating it takes time and memory by the launch. A rotation that has more is
  // one graph nevertheless.
  std::int64_t graph_launches = 4096;
  // A kernel below takes less time than its launch does on a busy host.
  Nanoseconds graph_below = std::chrono::microseconds(20);
  // Between two launches of a stream lies a gap of 1 to 1.5 us, which the events see: a graph is
  // replayed where the gaps may be more than this fraction of an execution.
  double most_gap_share = 0.01;
  // Of the blocking kernel: launches never take as long.
  Nanoseconds block_limit = std::chrono::seconds(2);
};

// What the sampler knows of one kernel: how it is sampled, recorded graphs, earlier clocks.
class KernelSampling {
 public:
  explicit KernelSampling(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}
  KernelSampling(const KernelSampling&) = delete;
  KernelSampling& operator=(const KernelSampling&) = delete;
  ~KernelSampling();

  // How and why, for people: "graph: shorter than 120.0 us"; "stream; up to 1.200 us between
  // launches, 0.4 % of an execution", the gap being `floor` at most (Sampler::launch_floor;
  // nullopt: unknown); with what sample() found besides: "the queue holds few launches". Empty
  // before the first sample.
  std::string method(std::optional<Nanoseconds> floor = std::nullopt) const;
  // Whether samples were taken.
  bool sampled() const { return execution_.count() > 0; }

 private:
  friend class Sampler;
  struct Graph {
    std::vector<std::uint64_t> invocations;  // that it executes, by number
    cudaGraphExec_t graph = nullptr;
  };
  std::shared_ptr<Runtime> runtime_;
  std::string method_;
  std::optional<SampleMethod> chosen_;  // where any was asked for
  std::string no_graph_;                // why none can be recorded; empty: it can, or was not tried
  bool warm_ = false;
  bool short_queue_ = false;
  bool unblocked_ = false;  // a graph's launch cannot wait behind the blocking kernel
  // Of the last sample.
  SampleMethod used_ = SampleMethod::any;
  Nanoseconds execution_{0};
  std::int64_t launches_ = 1;  // of an execution, at most
  ClockHistory clocks_;
  std::deque<Graph> graphs_;  // the latest ones
};

// One a process. The runtime outlives it.
class Sampler {
 public:
  // Error: memory or events cannot be had, or the sampler's own kernels do not run.
  static Result<std::shared_ptr<Sampler>> create(std::shared_ptr<Runtime> runtime,
                                                 ConditionWatch watch,
                                                 const SamplerOptions& options = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // `request.rotation` are CudaInvocations of one kernel, `sampling` that kernel's. The first of
  // them is executed once before the kernel's first sample: loading code takes the device's
  // attention, which a blocking kernel has. Where launching takes longer than the blocking kernel
  // waits, few launches wait behind it from then on, and a graph that even then cannot is launched
  // without it. Error: an execution failed, or launching took as long with few.
  Result<DeviceSample> sample(KernelSampling& sampling, const SampleRequest& request);

  // The device's time for one empty kernel among many, and so at most the gap between two launches;
  // measured at the first call. Not below a tracer: its set-up may keep a launch waiting for as
  // long as the blocking kernel holds the device. Absent: it could not be measured.
  std::optional<Nanoseconds> launch_floor();
  // What samples are not judged by, and why; empty: by everything.
  std::string unknown_conditions() const { return watch_.unknown(); }

 private:
  struct Batch;    // what one sample puts on the stream
  struct Control;  // shared with the device
  struct Timing;   // what it took
  Sampler(std::shared_ptr<Runtime> runtime, ConditionWatch watch, const SamplerOptions& options);
  Status prepare();
  Result<Timing> measure(const Batch& batch);
  Result<Timing> measure_graph(KernelSampling& sampling, Batch batch);
  // Absent: the block's limit ended with few launches too.
  Result<std::optional<Timing>> measure_behind_block(Batch batch);
  Result<std::optional<Timing>> measure_once(
      const Batch& batch);  // absent: the block's limit ended
  Status enqueue_all(const Batch& batch, Timing& timing);
  Result<DeviceSample> take(KernelSampling& sampling, const SampleRequest& request,
                            SampleMethod method);
  Result<DeviceSample> take_graph(KernelSampling& sampling, const SampleRequest& request);
  Result<DeviceSample> take_any(KernelSampling& sampling, const SampleRequest& request);
  Result<cudaGraphExec_t> graph_of(KernelSampling& sampling, const SampleRequest& request,
                                   std::int64_t executions);
  static std::int64_t launches_of(const SampleRequest& request);
  Nanoseconds shortest_for_stream(const SampleRequest& request);
  Batch stream_batch(const SampleRequest& request) const;
  Result<Batch> graph_batch(KernelSampling& sampling, const SampleRequest& request);
  std::optional<std::int64_t> clock_between() const;
  void release_block();

  std::shared_ptr<Runtime> runtime_;
  ConditionWatch watch_;
  const SamplerOptions options_;
  std::int64_t queue_;  // launches that wait behind a blocking kernel
  MappedMemory memory_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::optional<std::optional<Nanoseconds>> floor_;
};

}  // namespace bench::ops::cuda
