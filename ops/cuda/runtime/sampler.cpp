// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/sampler.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <iterator>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Some devices count time in steps of a microsecond. Over this window two readings still give the
// clock within half a percent.
constexpr Nanoseconds kMinClockWindow = std::chrono::microseconds(400);
constexpr std::int64_t kFloorLaunches = 200;
// Launches that wait behind the blocking kernel after its limit expired once.
constexpr std::int64_t kFewQueuedLaunches = 16;
// If the rotation does not divide the iterations, each of its positions needs its own graph.
constexpr std::size_t kMaxGraphs = 16;

CudaInvocation& invocation_at(const SampleRequest& request, std::int64_t iteration) {
  const auto size = static_cast<std::int64_t>(request.rotation.size());
  return static_cast<CudaInvocation&>(
      *request.rotation[static_cast<std::size_t>((request.first + iteration) % size)]);
}

Nanoseconds scale_time(Nanoseconds time, std::int64_t part, std::int64_t whole) {
  return Nanoseconds(static_cast<std::int64_t>(
      static_cast<double>(time.count()) * static_cast<double>(whole) / static_cast<double>(part)));
}

double compute_fraction(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

struct Sampler::Control {
  std::int32_t release;
  std::int32_t timed_out;
  ClockReading before, after;
};

// A unit is one execution of the kernel, or one replay of a graph.
struct Sampler::Batch {
  std::int64_t units = 0;
  std::int64_t queued = 0;    // queued behind the blocking kernel; 0: there is none
  std::int64_t launches = 1;  // launches of one unit
  std::function<Status(std::int64_t unit)> enqueue;
};

struct Sampler::Timing {
  Nanoseconds device{0};
  std::optional<Nanoseconds> host;
};

KernelSampling::~KernelSampling() {
  for (const Graph& graph : graphs_) runtime_->destroy_graph(graph.graph);
}

std::string KernelSampling::method(std::optional<Nanoseconds> floor) const {
  std::string text = method_text_;
  if (floor && sampled() && used_method_ == SampleMethod::stream) {
    const Nanoseconds gap = *floor * launches_per_execution_;
    text += fmt::format("; up to {} between launches, {:.1f} % of an execution", format_time(gap),
                        100 * compute_fraction(gap, execution_time_));
  }
  if (queue_limit_) text += "; the queue holds few launches";
  if (is_graph_unblocked_ && used_method_ == SampleMethod::graph)
    text += "; not queued: its launch cannot wait behind the blocking kernel";
  return text;
}

Sampler::Sampler(std::shared_ptr<Runtime> runtime, ConditionWatch watch,
                 const SamplerOptions& options)
    : runtime_(std::move(runtime)), watch_(std::move(watch)), options_(options) {}

Sampler::~Sampler() {
  for (const cudaEvent_t event : {begin_event_, end_event_}) {
    if (event != nullptr) runtime_->destroy_event(event);
  }
  if (control_memory_.host != nullptr) runtime_->release_mapped(control_memory_);
}

Result<std::shared_ptr<Sampler>> Sampler::create(std::shared_ptr<Runtime> runtime,
                                                 ConditionWatch watch,
                                                 const SamplerOptions& options) {
  std::shared_ptr<Sampler> sampler(new Sampler(std::move(runtime), std::move(watch), options));
  BENCH_RETURN_IF_ERROR(sampler->prepare());
  return sampler;
}

// Runs each of the sampler's own kernels once without blocking, so that their code is loaded now
// and not while the device is blocked.
Status Sampler::prepare() {
  BENCH_ASSIGN_OR_RETURN(control_memory_, runtime_->allocate_mapped({sizeof(Control)}));
  BENCH_ASSIGN_OR_RETURN(begin_event_, runtime_->create_event());
  BENCH_ASSIGN_OR_RETURN(end_event_, runtime_->create_event());
  const Batch batch{1, 1, 1, [this](std::int64_t) { return runtime_->launch_empty(); }};
  release_block();
  auto* device = static_cast<Control*>(control_memory_.device);
  BENCH_RETURN_IF_ERROR(
      runtime_->launch_blocking(&device->release, &device->timed_out, options_.block_limit));
  BENCH_RETURN_IF_ERROR(runtime_->read_clock(&device->before));
  BENCH_RETURN_IF_ERROR(runtime_->launch_empty());
  BENCH_RETURN_IF_ERROR(runtime_->synchronise());
  std::optional<std::int64_t> queue_limit;
  BENCH_RETURN_IF_ERROR(measure(batch, queue_limit));
  watch_.sample_begins();  // kernels report unknown conditions before they have samples
  return Done{};
}

// Ends the blocking kernel, which may read the flag at any time.
void Sampler::release_block() {
  auto* control = static_cast<Control*>(control_memory_.host);
  std::atomic_ref<std::int32_t>(control->release).store(1, std::memory_order_release);
}

// The host's time covers only the launches. After the block is released, a launch may have to wait
// for the device. So only the launches before the release are timed, and their time is scaled to
// all launches.
Status Sampler::enqueue_all(const Batch& batch, Timing& timing) {
  const std::int64_t queued = std::min(batch.queued, batch.units);
  const std::int64_t first = queued > 0 ? queued : batch.units;
  const Nanoseconds begin = runtime_->now();
  for (std::int64_t unit = 0; unit < first; ++unit) BENCH_RETURN_IF_ERROR(batch.enqueue(unit));
  timing.host = scale_time(runtime_->now() - begin, first, batch.units);
  if (first < batch.units) release_block();
  for (std::int64_t unit = first; unit < batch.units; ++unit) {
    BENCH_RETURN_IF_ERROR(batch.enqueue(unit));
  }
  return Done{};
}

// If the block's limit expires, the queue may be shorter than assumed. Retries once with few
// launches, and keeps that limit for this kernel. If there were few already, a retry would only
// expire again. A kernel whose launch waits for the device makes the limit expire too, which says
// nothing about other kernels.
Result<std::optional<Sampler::Timing>> Sampler::measure_behind_block(
    Batch batch, std::optional<std::int64_t>& queue_limit) {
  if (queue_limit) batch.queued = std::min(batch.queued, *queue_limit / batch.launches);
  BENCH_ASSIGN_OR_RETURN(auto timing, measure_once(batch));
  const std::int64_t queued_launches = std::min(batch.queued, batch.units) * batch.launches;
  if (timing || queued_launches <= kFewQueuedLaunches) return timing;
  queue_limit = kFewQueuedLaunches;
  batch.queued = std::min(batch.queued, *queue_limit / batch.launches);
  return measure_once(batch);
}

Result<Sampler::Timing> Sampler::measure(const Batch& batch,
                                         std::optional<std::int64_t>& queue_limit) {
  BENCH_ASSIGN_OR_RETURN(const auto timing, measure_behind_block(batch, queue_limit));
  if (timing) return *timing;
  const std::int64_t limit = queue_limit.value_or(options_.queued_launches) / batch.launches;
  return Error{
      fmt::format("launching {} executions took longer than the {} that the blocking "
                  "kernel waits",
                  std::min({batch.queued, batch.units, limit}), format_time(options_.block_limit)),
      "", "is the host very busy, or CUDA_LAUNCH_BLOCKING set?"};
}

Result<std::optional<Sampler::Timing>> Sampler::measure_once(const Batch& batch) {
  auto* host = static_cast<Control*>(control_memory_.host);
  auto* device = static_cast<Control*>(control_memory_.device);
  *host = Control{};
  Timing timing;
  const auto enqueue = [&]() -> Status {
    if (batch.queued > 0) {
      BENCH_RETURN_IF_ERROR(
          runtime_->launch_blocking(&device->release, &device->timed_out, options_.block_limit));
    }
    BENCH_RETURN_IF_ERROR(runtime_->read_clock(&device->before));
    BENCH_RETURN_IF_ERROR(runtime_->record(begin_event_));
    BENCH_RETURN_IF_ERROR(enqueue_all(batch, timing));
    BENCH_RETURN_IF_ERROR(runtime_->record(end_event_));
    return runtime_->read_clock(&device->after);
  };
  const Status enqueued = enqueue();
  // Even after a failure, nothing may stay blocked.
  release_block();
  const Status waited = runtime_->synchronise();
  BENCH_RETURN_IF_ERROR(enqueued);
  BENCH_RETURN_IF_ERROR(waited);
  const bool timed_out = std::atomic_ref<std::int32_t>(host->timed_out).load() != 0;
  if (timed_out) return std::optional<Timing>();
  BENCH_ASSIGN_OR_RETURN(timing.device, runtime_->elapsed(begin_event_, end_event_));
  return std::optional(timing);
}

// Returns nullopt if one of the readings is missing, or they are too close to each other.
std::optional<std::int64_t> Sampler::compute_clock() const {
  const auto& control = *static_cast<const Control*>(control_memory_.host);
  const std::int64_t time = control.after.nanoseconds - control.before.nanoseconds;
  const std::int64_t cycles = control.after.cycles - control.before.cycles;
  if (control.before.nanoseconds == 0 || control.after.nanoseconds == 0 || cycles <= 0 ||
      time < kMinClockWindow.count()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(static_cast<double>(cycles) * 1e9 / static_cast<double>(time));
}

// Returns the launches of one execution.
std::int64_t Sampler::count_launches(const SampleRequest& request) {
  std::int64_t launches = 1;
  for (Invocation* invocation : request.rotation) {
    launches = std::max(launches, static_cast<CudaInvocation*>(invocation)->launches());
  }
  return launches;
}

Sampler::Batch Sampler::stream_batch(const SampleRequest& request) const {
  const std::int64_t launches = count_launches(request);
  return {request.iterations, options_.queued_launches / launches, launches,
          [request](std::int64_t unit) { return invocation_at(request, unit).enqueue(nullptr); }};
}

Result<cudaGraphExec_t> Sampler::find_or_make_graph(KernelSampling& sampling,
                                                    const SampleRequest& request,
                                                    std::int64_t executions) {
  std::vector<std::uint64_t> numbers;
  for (std::int64_t i = 0; i < executions; ++i) {
    numbers.push_back(invocation_at(request, i).number());
  }
  auto& graphs = sampling.graphs_;
  const auto earlier_graph = std::find_if(graphs.begin(), graphs.end(), [&](const auto& graph) {
    return graph.invocations == numbers;
  });
  if (earlier_graph != graphs.end()) {
    // Moves the graph to the end: the least recently used graph is at the front and dropped first.
    std::rotate(earlier_graph, std::next(earlier_graph), graphs.end());
    return graphs.back().graph;
  }
  BENCH_RETURN_IF_ERROR(runtime_->begin_capture());
  for (std::int64_t i = 0; i < executions; ++i) {
    if (Status enqueued = invocation_at(request, i).enqueue(nullptr); !enqueued) {
      runtime_->abandon_capture();
      return std::move(enqueued).error();
    }
  }
  BENCH_ASSIGN_OR_RETURN(cudaGraphExec_t graph, runtime_->end_capture());
  if (graphs.size() == kMaxGraphs) {
    runtime_->destroy_graph(graphs.front().graph);
    graphs.pop_front();
  }
  graphs.push_back({std::move(numbers), graph});
  return graph;
}

// Replays a graph of complete rotations as often as it fits, then a graph of the remaining
// iterations. Both graphs begin at the same position of the rotation.
Result<Sampler::Batch> Sampler::graph_batch(KernelSampling& sampling,
                                            const SampleRequest& request) {
  const auto rotation_size = static_cast<std::int64_t>(request.rotation.size());
  const std::int64_t executions = options_.graph_launches / count_launches(request);
  const std::int64_t graph_executions =
      std::max(rotation_size, executions / rotation_size * rotation_size);
  const std::int64_t full_replays = request.iterations / graph_executions;
  const std::int64_t remaining = request.iterations % graph_executions;
  cudaGraphExec_t full_graph = nullptr;
  cudaGraphExec_t remaining_graph = nullptr;
  if (full_replays > 0) {
    BENCH_ASSIGN_OR_RETURN(full_graph, find_or_make_graph(sampling, request, graph_executions));
  }
  if (remaining > 0) {
    BENCH_ASSIGN_OR_RETURN(remaining_graph, find_or_make_graph(sampling, request, remaining));
  }
  return Batch{full_replays + (remaining > 0 ? 1 : 0), options_.queued_launches, 1,
               [this, full_graph, remaining_graph, full_replays](std::int64_t unit) {
                 return runtime_->launch(unit < full_replays ? full_graph : remaining_graph);
               }};
}

Result<DeviceSample> Sampler::take_sample(KernelSampling& sampling, const SampleRequest& request,
                                          SampleMethod method) {
  Batch batch = stream_batch(request);
  if (method == SampleMethod::graph) {
    BENCH_ASSIGN_OR_RETURN(batch, graph_batch(sampling, request));
  }
  watch_.sample_begins();
  BENCH_ASSIGN_OR_RETURN(const Timing timing, method == SampleMethod::graph
                                                  ? measure_graph(sampling, batch)
                                                  : measure(batch, sampling.queue_limit_));
  sampling.used_method_ = method;
  sampling.execution_time_ = timing.device / request.iterations;
  sampling.launches_per_execution_ = count_launches(request);
  DeviceSample sample;
  sample.device = timing.device;
  sample.host = timing.host;
  sample.method = method;
  sample.clock_hz = compute_clock();
  SampleAssessment assessment = watch_.sample_ends({sample.clock_hz, sampling.clocks_.median()});
  if (sample.clock_hz) sampling.clocks_.add(*sample.clock_hz);
  sample.verdict = assessment.verdict;
  sample.reason = std::move(assessment.reason);
  return sample;
}

// Launching a graph of thousands of nodes may need the device. Without the blocking kernel, the
// graph begins while the host is still launching it, which adds some microseconds to a sample.
Result<Sampler::Timing> Sampler::measure_graph(KernelSampling& sampling, Batch batch) {
  if (!sampling.is_graph_unblocked_) {
    std::optional<std::int64_t> queue_limit = sampling.queue_limit_;
    BENCH_ASSIGN_OR_RETURN(const auto timing, measure_behind_block(batch, queue_limit));
    if (timing) {
      sampling.queue_limit_ = queue_limit;
      return *timing;
    }
    // The limit did not help, so the kernel keeps its earlier one.
    sampling.is_graph_unblocked_ = true;
  }
  batch.queued = 0;
  return measure(batch, sampling.queue_limit_);
}

// Replays a graph if one can be recorded; otherwise uses the stream and records the reason.
Result<DeviceSample> Sampler::take_graph_sample(KernelSampling& sampling,
                                                const SampleRequest& request) {
  if (sampling.no_graph_reason_.empty()) {
    const auto recorded = graph_batch(sampling, request);
    if (recorded) return take_sample(sampling, request, SampleMethod::graph);
    if (runtime_->lost()) return recorded.error();
    sampling.no_graph_reason_ = recorded.error().message();
  }
  sampling.method_text_ = "stream: no graph can be recorded: " + sampling.no_graph_reason_;
  return take_sample(sampling, request, SampleMethod::stream);
}

// Executions at least this long hide the gaps between their launches.
Nanoseconds Sampler::min_stream_execution_time(const SampleRequest& request) {
  const Nanoseconds gap = launch_floor().value_or(Nanoseconds(0)) * count_launches(request);
  return std::max(options_.graph_below,
                  Nanoseconds(static_cast<std::int64_t>(static_cast<double>(gap.count()) /
                                                        options_.max_gap_fraction)));
}

// The first sample determines the method. If the result is a graph, the sample is taken again,
// because all samples of a kernel use one method.
Result<DeviceSample> Sampler::choose_and_take_sample(KernelSampling& sampling,
                                                     const SampleRequest& request) {
  if (sampling.chosen_method_ == SampleMethod::stream) {
    return take_sample(sampling, request, SampleMethod::stream);
  }
  if (sampling.chosen_method_ == SampleMethod::graph) return take_graph_sample(sampling, request);
  BENCH_ASSIGN_OR_RETURN(DeviceSample first, take_sample(sampling, request, SampleMethod::stream));
  const Nanoseconds execution_time = first.device / request.iterations;
  // If the device waits for launches, both times are equal except for the last kernel. This sample
  // may have had all launches queued; a longer sample would not.
  const bool is_starved = first.host.value_or(Nanoseconds(0)) * 10 >= first.device * 9;
  const Nanoseconds min_execution_time = min_stream_execution_time(request);
  if (execution_time >= min_execution_time && !is_starved) {
    sampling.chosen_method_ = SampleMethod::stream;
    sampling.method_text_ = "stream";
    return first;
  }
  sampling.chosen_method_ = SampleMethod::graph;
  sampling.method_text_ =
      is_starved && execution_time >= options_.graph_below
          ? "graph: launching takes longer than executing"
          : fmt::format("graph: shorter than {}", format_time(min_execution_time));
  return take_graph_sample(sampling, request);
}

Result<DeviceSample> Sampler::sample(KernelSampling& sampling, const SampleRequest& request) {
  assert(!request.rotation.empty() && request.iterations > 0);
  if (!sampling.is_warm_) {
    BENCH_RETURN_IF_ERROR(invocation_at(request, 0).enqueue(nullptr));
    BENCH_RETURN_IF_ERROR(runtime_->synchronise());
    sampling.is_warm_ = true;
  }
  switch (request.method) {
    case SampleMethod::any:
      break;
    case SampleMethod::stream:
      sampling.method_text_ = "stream";
      return take_sample(sampling, request, SampleMethod::stream);
    case SampleMethod::graph:
      sampling.method_text_ = "graph";
      return take_graph_sample(sampling, request);
  }
  return choose_and_take_sample(sampling, request);
}

std::optional<Nanoseconds> Sampler::launch_floor() {
  if (launch_floor_) return *launch_floor_;
  const Batch batch{kFloorLaunches, kFloorLaunches, 1,
                    [this](std::int64_t) { return runtime_->launch_empty(); }};
  launch_floor_.emplace();
  std::optional<std::int64_t> queue_limit;
  if (const auto timing = measure(batch, queue_limit))
    *launch_floor_ = timing->device / kFloorLaunches;
  return *launch_floor_;
}

}  // namespace bench::ops::cuda
