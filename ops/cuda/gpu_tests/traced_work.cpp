// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/traced_work.hpp"

#include "ops/cuda/runtime/sampler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;

class Region {
 public:
  Region(CuptiCollector& collector, std::uint64_t id)
      : region_(collector, GpuExternalKind::operation, id) {}

 private:
  CuptiRegion region_;
};

Status launch_seven(Runtime& device) {
  for (unsigned i = 1; i <= 7; ++i) {
    BENCH_RETURN_IF_ERROR(
        to_cuda_status(launch_spin(device.stream(), 5000, {i, 32 * i}), "one of seven launches"));
  }
  return device.synchronise();
}

// Runs a kernel of a millisecond, waits a millisecond, and runs another such kernel.
Status launch_two_apart(Runtime& device) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  BENCH_RETURN_IF_ERROR(
      to_cuda_status(launch_spin(device.stream(), kMillisecond, {}), "the first"));
  BENCH_RETURN_IF_ERROR(device.synchronise());
  // The launch itself takes some of the time.
  const Nanoseconds next = device.now() + 1ms - 8us;
  while (device.now() < next) {
  }
  BENCH_RETURN_IF_ERROR(
      to_cuda_status(launch_spin(device.stream(), kMillisecond, {}), "the second"));
  return device.synchronise();
}

void launch_on_own_stream(CuptiCollector& collector, std::uint64_t id, cudaError_t& result) {
  const Region region(collector, id);
  cudaStream_t stream = nullptr;
  result = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int i = 0; i < 5 && result == cudaSuccess; ++i) {
    result = launch_spin(stream, 100'000, {});
  }
  if (result == cudaSuccess) result = cudaStreamSynchronize(stream);
  if (stream != nullptr) cudaStreamDestroy(stream);
}

Status launch_on_two_threads(CuptiCollector& collector) {
  std::array<cudaError_t, 2> results{};
  std::thread other([&] { launch_on_own_stream(collector, kSecondThread, results[1]); });
  launch_on_own_stream(collector, kFirstThread, results[0]);
  other.join();
  for (const cudaError_t result : results)
    BENCH_RETURN_IF_ERROR(to_cuda_status(result, "a thread"));
  return Done{};
}

Status do_copies(Runtime& device) {
  std::vector<char> host(static_cast<std::size_t>(kCopiedIn));
  auto one = DeviceBuffer::create(device, {kCopiedIn});
  auto two = DeviceBuffer::create(device, {kCopiedIn});
  if (!one || !two) return Error{"no memory", "", ""};
  BENCH_RETURN_IF_ERROR(device.copy_in(one->data(), host.data(), {kCopiedIn}));
  BENCH_RETURN_IF_ERROR(device.copy_within(two->data(), one->data(), {kCopiedWithin}));
  BENCH_RETURN_IF_ERROR(device.fill(two->data(), 7, {kFilled}));
  return device.copy_out(host.data(), one->data(), {kCopiedOut});
}

Status launch_instances(Runtime& device) {
  auto memory = DeviceBuffer::create(device, {256});
  if (!memory) return Error{"no memory", "", ""};
  BENCH_RETURN_IF_ERROR(device.fill(memory->data(), 0, {256}));
  BENCH_RETURN_IF_ERROR(to_cuda_status(
      launch_touch_float(device.stream(), static_cast<float*>(memory->data())), "touch<float>"));
  BENCH_RETURN_IF_ERROR(to_cuda_status(
      launch_touch_int(device.stream(), static_cast<int*>(memory->data())), "touch<int>"));
  return device.synchronise();
}

}  // namespace

Result<DeviceSample> sample_spins(CheckRun& run, std::int64_t length, SampleMethod method,
                                  std::int64_t executions) {
  SpinInvocation invocation(*run.device.runtime, std::chrono::microseconds(length));
  Invocation* const rotation[] = {&invocation};
  KernelSampling sampling(run.device.runtime);
  return run.device.sampler->sample(sampling, {rotation, 0, executions, method});
}

Result<TracedTimes> do_traced_work(CheckRun& run, CuptiCollector& collector,
                                   std::span<const ConversionCase> conversions) {
  Runtime& device = *run.device.runtime;
  TracedTimes times;
  struct Row {
    std::uint64_t id;
    Status (*work)(Runtime& device);
  };
  for (const Row& row : {Row{kSevenLaunches, launch_seven}, Row{kTwoApart, launch_two_apart},
                         Row{kCopies, do_copies}, Row{kInstances, launch_instances}}) {
    const Region region(collector, row.id);
    BENCH_RETURN_IF_ERROR(row.work(device));
  }
  BENCH_RETURN_IF_ERROR(launch_on_two_threads(collector));
  for (const ConversionCase& conversion : conversions) {
    const Region region(collector, kConversion + static_cast<std::uint64_t>(conversion.channels));
    if (!conversion.bound.invocation->run()) {
      return Error{conversion.bound.invocation->error(), "", ""};
    }
  }
  for (const std::int64_t length : kTracedLengths) {
    const Region region(collector, kSpins + static_cast<std::uint64_t>(length));
    BENCH_ASSIGN_OR_RETURN(const DeviceSample sample,
                           sample_spins(run, length, SampleMethod::stream, kTracedExecutions));
    times.device[length] = sample.device / kTracedExecutions;
    times.host[length] = sample.host.value_or(Nanoseconds(0)) / kTracedExecutions;
  }
  const Region region(collector, kGraph);
  BENCH_ASSIGN_OR_RETURN(const DeviceSample sample,
                         sample_spins(run, kGraphNodeLength, SampleMethod::graph, kGraphNodes));
  times.graph = sample.device / kGraphNodes;
  return times;
}

TracedSession::TracedSession(const GpuSession& session) : session_(session) {
  for (const auto& id : all<GpuExternalId>()) {
    if (id.kind == GpuExternalKind::operation) operators_[id.correlation] = id.id;
  }
  for (const auto& node : all<GpuGraphNode>()) nodes_[node.node] = node;
  for (const auto& call : all<GpuApiCall>()) {
    if (call.domain == GpuApiDomain::runtime && call.correlation) calls_[*call.correlation] = call;
  }
}

std::optional<std::uint64_t> TracedSession::owner(const GpuKernel& kernel) const {
  for (auto node = kernel.graph_node; node;) {
    const auto found = nodes_.find(*node);
    if (found == nodes_.end()) break;
    if (found->second.external_id) return found->second.external_id;
    node = found->second.copied_from;
  }
  if (!kernel.correlation) return std::nullopt;
  const auto found = operators_.find(*kernel.correlation);
  return found == operators_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<GpuKernel> TracedSession::find_kernels(std::uint64_t id) const {
  std::vector<GpuKernel> kernels;
  for (const auto& kernel : all<GpuKernel>()) {
    if (kernel.time && owner(kernel) == id) kernels.push_back(kernel);
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const auto& a, const auto& b) { return a.time->start < b.time->start; });
  return kernels;
}

std::optional<GpuApiCall> TracedSession::find_call(const GpuKernel& kernel) const {
  if (!kernel.correlation) return std::nullopt;
  const auto found = calls_.find(*kernel.correlation);
  return found == calls_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace bench::ops::cuda
