// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/gpu_tests/traced_work.hpp"
#include "ops/cuda/runtime/sampler.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
constexpr std::int64_t kExecutions = 200;
constexpr std::int64_t kLongGraph = 4096;

// Returns how many bytes differ after a copy in, a copy on the device and a copy out.
Result<std::size_t> count_differing_bytes(Runtime& device) {
  std::vector<std::uint8_t> sent((std::size_t{1} << 20) + 3), received(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i * 37 + 11);
  const Bytes size{static_cast<std::int64_t>(sent.size())};
  auto source = DeviceBuffer::create(device, size);
  auto target = DeviceBuffer::create(device, size);
  if (!source || !target) return Error{"no memory", "", ""};
  BENCH_RETURN_IF_ERROR(device.fill(target->data(), 0xff, size));
  BENCH_RETURN_IF_ERROR(device.copy_in(source->data(), sent.data(), size));
  BENCH_RETURN_IF_ERROR(device.copy_within(target->data(), source->data(), size));
  BENCH_RETURN_IF_ERROR(device.copy_out(received.data(), target->data(), size));
  std::size_t differing = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) differing += sent[i] != received[i] ? 1 : 0;
  return differing;
}

struct BlockingResult {
  bool timed_out = false;
  Nanoseconds waited{0};
};

// Launches the blocking kernel and does not release it.
Result<BlockingResult> block_without_release(Runtime& device, Nanoseconds limit) {
  BENCH_ASSIGN_OR_RETURN(const MappedMemory memory, device.allocate_mapped({8}));
  auto* flags = static_cast<std::int32_t*>(memory.device);
  const Nanoseconds begin = device.now();
  Status status = device.launch_blocking(flags, flags + 1, limit);
  if (status) status = device.synchronise();
  BlockingResult end{static_cast<const std::int32_t*>(memory.host)[1] != 0, device.now() - begin};
  device.release_mapped(memory);
  BENCH_RETURN_IF_ERROR(status);
  return end;
}

// Takes five samples of a kernel with this time and returns the median one.
Result<DeviceSample> take_median_sample(const CheckRun& run, Nanoseconds time,
                                        SampleMethod method) {
  SpinInvocation invocation(*run.device.runtime, time);
  Invocation* const rotation[] = {&invocation};
  KernelSampling sampling(run.device.runtime);
  std::vector<DeviceSample> samples;
  for (int i = 0; i < 5; ++i) {
    BENCH_ASSIGN_OR_RETURN(DeviceSample sample, run.device.sampler->sample(
                                                    sampling, {rotation, 0, kExecutions, method}));
    samples.push_back(std::move(sample));
  }
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.device < b.device; });
  return samples[2];
}

void check_spin(CheckRun& run, std::int64_t length) {
  const auto time = std::chrono::microseconds(length);
  const std::string name = fmt::format("stream against graph, {} us", length);
  const auto stream = take_median_sample(run, time, SampleMethod::stream);
  const auto graph = take_median_sample(run, time, SampleMethod::graph);
  if (!stream || !graph) {
    return run.report.add_error(name, "", (!stream ? stream : graph).error().message());
  }
  const Nanoseconds by_stream = stream->device / kExecutions;
  const Nanoseconds by_graph = graph->device / kExecutions;
  const Nanoseconds launch = stream->host.value_or(Nanoseconds(0)) / kExecutions;
  const double ratio = microseconds(by_graph) / microseconds(by_stream);
  Figures figures = {{"length_us", length},
                     {"stream_us", microseconds(by_stream)},
                     {"graph_us", microseconds(by_graph)},
                     {"graph_by_stream", ratio},
                     {"launch_us", microseconds(launch)},
                     {"verdict", static_cast<int>(stream->verdict)},
                     {"reason", stream->reason}};
  if (stream->clock_hz) figures["clock_mhz"] = static_cast<double>(*stream->clock_hz) / 1e6;
  // Allows for the gap of up to 1.5 us between launches of a stream. Also allows for the clock of
  // the spinning kernel, whose resolution may be a microsecond.
  const double difference = std::abs(microseconds(by_graph) - microseconds(by_stream));
  const bool holds = graph->method == SampleMethod::graph &&
                     difference <= 0.02 * microseconds(by_stream) + kGapMargin;
  run.report.add_check(holds, name, "", figures);
}

Nanoseconds from_microseconds(const nlohmann::json& value) {
  return Nanoseconds(std::llround(value.get<double>() * 1e3));
}

}  // namespace

Status to_cuda_status(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return Done{};
  return Error{fmt::format("{}: {}", what, cudaGetErrorString(code)), "", ""};
}

Status SpinInvocation::launch() {
  return to_cuda_status(launch_spin(runtime().stream(), time_.count(), shape_), "spin");
}

void check_memory(CheckRun& run) {
  const auto differing = count_differing_bytes(*run.device.runtime);
  if (!differing) return run.report.add_error("memory round trip", "", differing.error().message());
  run.report.add_check(*differing == 0, "memory round trip", "", {{"differing_bytes", *differing}});
}

void check_blocking(CheckRun& run) {
  constexpr const char* kName = "a blocking kernel that is not released ends by itself";
  const auto end = block_without_release(*run.device.runtime, 50ms);
  if (!end) return run.report.add_error(kName, "", end.error().message());
  run.report.add_check(end->timed_out && end->waited >= 49ms && end->waited < 1s, kName, "",
                       {{"waited_us", microseconds(end->waited)}, {"timed_out", end->timed_out}});
}

UntracedTimes read_untraced(const std::string& figures_file) {
  UntracedTimes times;
  std::ifstream lines(figures_file);
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("length_us") || !record.contains("stream_us")) {
      continue;
    }
    const auto length = record.at("length_us").get<std::int64_t>();
    times.device[length] = from_microseconds(record.at("stream_us"));
    times.host[length] = from_microseconds(record.at("launch_us"));
    if (length == kGraphNodeLength) times.graph = from_microseconds(record.at("graph_us"));
  }
  return times;
}

// Checks that a graph of kLongGraph nodes can be enqueued after the blocking kernel, which waits.
void check_long_graph(CheckRun& run) {
  constexpr const char* kName = "a graph of 4096 nodes behind the blocking kernel";
  SpinInvocation invocation(*run.device.runtime, 5us);
  Invocation* const rotation[] = {&invocation};
  KernelSampling sampling(run.device.runtime);
  const Nanoseconds begin = run.device.runtime->now();
  const auto sample =
      run.device.sampler->sample(sampling, {rotation, 0, kLongGraph, SampleMethod::graph});
  if (!sample) return run.report.add_error(kName, "", sample.error().message());
  run.report.add_check(sample->method == SampleMethod::graph, kName, "",
                       {{"node_us", microseconds(sample->device) / kLongGraph},
                        {"method", sampling.method()},
                        {"host_us", microseconds(sample->host.value_or(Nanoseconds(0)))},
                        {"waited_us", microseconds(run.device.runtime->now() - begin)}});
}

void check_sampling(CheckRun& run) {
  for (const std::int64_t length : {2, 5, 20, 50, 200}) check_spin(run, length);
  const auto floor = run.device.sampler->launch_floor();
  Figures figures = {{"unknown_conditions", run.device.sampler->unknown_conditions()}};
  if (floor) figures["empty_kernel_us"] = microseconds(*floor);
  run.report.add_check(floor.has_value(), "minimum launch time", "i", figures);
}

}  // namespace bench::ops::cuda
