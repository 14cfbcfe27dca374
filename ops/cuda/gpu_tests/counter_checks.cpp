// SPDX-License-Identifier: Apache-2.0
// Compares hardware counters with known values of a matrix product and a copy.
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/kernels/device/device_launcher.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"
#include "ops/cuda/runtime/device_counters.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/cuda/runtime/tuner.hpp"
#include "ops/operator.hpp"
#include "profiler/kernel_names/counter_verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr std::int64_t kCopied = std::int64_t{256} << 20;

class CopyInvocation final : public CudaInvocation {
 public:
  CopyInvocation(Runtime& device, void* target, const void* source)
      : CudaInvocation(device), target_(target), source_(source) {}
  Status enqueue(StepObserver*) override {
    return to_cuda_status(launch_copy(runtime().stream(), target_, source_, kCopied), "copy");
  }

 private:
  void* target_;
  const void* source_;
};

Figures make_figures(const CounterReadings& readings) {
  Figures figures = Figures::object();
  for (const auto& [name, reading] : readings) {
    if (reading.value) {
      figures[name] = *reading.value;
    } else {
      figures[name] = reading.source;
    }
  }
  return figures;
}

// Returns the counters of one execution. If they cannot be read, reports the reason and returns
// nullopt. Missing permission to read counters is not a failure.
std::optional<CounterReadings> measure_counters(CheckRun& run, DeviceCounters& counters,
                                                const char* name, Invocation& invocation) {
  Invocation* const rotation[] = {&invocation};
  if (!invocation.run()) {
    run.report.add_error(name, "f", invocation.error());
    return std::nullopt;
  }
  auto readings = counters.measure(rotation);
  if (readings) return *std::move(readings);
  if (readings.error().kind == BackendError::Kind::unsupported) {
    run.report.add(name, "f", Outcome::figures, {{"reason", readings.error().reason}});
  } else {
    run.report.add_error(name, "f", readings.error().reason);
  }
  return std::nullopt;
}

// Compares only the bytes that the copy reads, because the caches keep some of the last writes.
void count_copy(CheckRun& run, DeviceCounters& counters) {
  constexpr const char* kName = "bytes of a copy of 256 MiB";
  Runtime& device = *run.device.runtime;
  auto one = DeviceBuffer::create(device, {kCopied});
  auto two = DeviceBuffer::create(device, {kCopied});
  if (!one || !two) return run.report.add_error(kName, "f", "no memory for it");
  CopyInvocation copy(device, two->data(), one->data());
  const auto readings = measure_counters(run, counters, kName, copy);
  if (!readings) return;
  auto ratio = find_value(*readings, LogicalCounter::dram_read_bytes);
  if (ratio) *ratio /= static_cast<double>(kCopied);
  Figures figures = make_figures(*readings);
  if (ratio) figures["read_by_expected"] = *ratio;
  run.report.add_comparison(ratio, 0.25, kName, "f", figures);
}

// A product. Each invocation has its own set of buffers.
struct Product {
  std::shared_ptr<Backend> backend;
  std::int64_t flops = 0;
  std::unique_ptr<Kernel> kernel;
  std::vector<DeviceBuffer> memory;
  std::vector<std::unique_ptr<Invocation>> invocations;

  Bytes set_size() const {
    Bytes size;
    for (const KernelBuffer& buffer : kernel->buffers()) size.count += buffer.size.count;
    return size;
  }
  std::vector<Invocation*> rotation() const {
    std::vector<Invocation*> all;
    for (const auto& invocation : invocations) all.push_back(invocation.get());
    return all;
  }
};

// Creates a bf16 product without invocations.
Result<Product> make_product(const CheckRun& run, const char* tokens) {
  const auto api = load_cublaslt(run.search);
  if (!api) return Error{api.error().reason, "", ""};
  auto backend = make_cublaslt_backend(
      {run.device, process_variable, make_device_launcher(run.device.runtime)}, *api);
  if (!backend) return Error{backend.error().reason, "", ""};
  const Operator* op = find_operator("gemm");
  BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed, parse_problem_tokens(*op, tokens));
  BENCH_ASSIGN_OR_RETURN(
      const Problem problem,
      make_problem(
          {.op = op, .dtype = DataType::bf16, .parameters = std::move(parsed.parameters)}));
  Product product;
  product.backend = *std::move(backend);
  product.flops = problem.work.flops;
  auto kernel = product.backend->create(problem);
  if (!kernel) return Error{kernel.error().reason, "", ""};
  product.kernel = *std::move(kernel);
  return product;
}

// Adds invocations, each with a new set of buffers, until there are `sets`.
Status allocate_sets(const CheckRun& run, Product& product, std::int64_t sets) {
  while (std::ssize(product.invocations) < sets) {
    auto memory = allocate_trial_buffers(*run.device.runtime, product.kernel->buffers());
    if (!memory) return Error{memory.error().reason, "", ""};
    BENCH_ASSIGN_OR_RETURN(product.invocations.emplace_back(),
                           product.kernel->bind(buffer_addresses(*memory)));
    std::ranges::move(*memory, std::back_inserter(product.memory));
  }
  return Done{};
}

void count_product(CheckRun& run, DeviceCounters& counters) {
  constexpr const char* kName = "tensor operations of a product of 4096^3 in bf16";
  auto product = make_product(run, "m4096n4096k4096+tb");
  if (!product) return run.report.add_error(kName, "f", product.error().message());
  if (const Status added = allocate_sets(run, *product, 1); !added) {
    return run.report.add_error(kName, "f", added.error().message());
  }
  const auto readings = measure_counters(run, counters, kName, *product->invocations.front());
  if (!readings) return;
  Figures figures = make_figures(*readings);
  figures["verdict"] = format_verdict(tensor_core_verdict(*readings, product->flops));
  figures["expected_operations"] = product->flops;
  auto ratio = find_value(*readings, LogicalCounter::tensor_operations_bf16);
  if (ratio) *ratio /= static_cast<double>(product->flops);
  if (ratio) figures["counted_by_expected"] = *ratio;
  run.report.add_comparison(ratio, 0.02, kName, "f", figures);
}

Result<Nanoseconds> measure_time(const CheckRun& run, const std::vector<Invocation*>& rotation) {
  constexpr std::int64_t kExecutions = 64;
  KernelSampling sampling(run.device.runtime);
  BENCH_ASSIGN_OR_RETURN(
      const DeviceSample sample,
      run.device.sampler->sample(sampling, {rotation, 0, kExecutions, SampleMethod::stream}));
  return sample.device / kExecutions;
}

// Measures a product with sets of buffers that together exceed `times` times the L2 size. If
// `times` is 0, uses one set, which stays in L2.
void measure_cold(CheckRun& run, DeviceCounters& counters, Product& product, std::int64_t times) {
  const std::string name = fmt::format("a product of 2048^3 in bf16 over {} x L2", times);
  const std::int64_t filled = times * run.device.runtime->traits().cache.count;
  const std::int64_t sets = filled / product.set_size().count + 1;
  if (const Status added = allocate_sets(run, product, sets); !added) {
    return run.report.add_error(name, "k", added.error().message());
  }
  const auto rotation = product.rotation();
  const auto time = measure_time(run, rotation);
  if (!time) return run.report.add_error(name, "k", time.error().message());
  Figures figures = {{"sets", sets},
                     {"set_bytes", product.set_size().count},
                     {"l2_bytes", run.device.runtime->traits().cache.count},
                     {"us", microseconds(*time)}};
  const auto readings = counters.measure(rotation);
  if (readings) {
    const auto hits = find_value(*readings, LogicalCounter::l2_hit_share);
    const auto read = find_value(*readings, LogicalCounter::dram_read_bytes);
    if (hits) figures["l2_hit_share"] = *hits;
    if (read) figures["dram_read_bytes"] = *read;
  } else {
    figures["reason"] = readings.error().reason;
  }
  run.report.add(name, "k", Outcome::figures, figures);
}

}  // namespace

// If the sets of a rotation exceed L2, no execution should find its set in L2. The measured hits
// show how many times the L2 size the sets must have.
void check_cold(CheckRun& run) {
  auto product = make_product(run, "m2048n2048k2048+tb");
  if (!product) return run.report.add_error("cold caches", "k", product.error().message());
  const auto counters = make_device_counters(run.search);
  for (const std::int64_t times : {0, 2, 4}) measure_cold(run, *counters, *product, times);
}

void check_counters(CheckRun& run) {
  // make_device_counters() accepts a missing library and reports it as a reason. This check
  // requires the library.
  if (const auto cupti = load_cupti(cupti_candidates(run.search)); !cupti) {
    return run.report.add_error("counters", "f", cupti.error().message());
  }
  const auto counters = make_device_counters(run.search);
  count_copy(run, *counters);
  count_product(run, *counters);
}

}  // namespace bench::ops::cuda
