// SPDX-License-Identifier: Apache-2.0
// Hardware counters against what is known of a matrix product and of a copy.
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"
#include "ops/cuda/runtime/device_counters.hpp"
#include "ops/operator.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr std::int64_t kCopied = std::int64_t{256} << 20;

class CopyInvocation final : public CudaInvocation {
 public:
  CopyInvocation(Runtime& device, void* target, const void* source)
      : CudaInvocation(device), target_(target), source_(source) {}
  Status enqueue(StepObserver*) override {
    return launched(launch_copy(runtime().stream(), target_, source_, kCopied), "copy");
  }

 private:
  void* target_;
  const void* source_;
};

Figures figures_of(const CounterReadings& readings) {
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

// Where counters are for administrators alone there is nothing to compare.
std::optional<CounterReadings> measured(CheckRun& run, DeviceCounters& counters, const char* name,
                                        Invocation& invocation) {
  Invocation* const rotation[] = {&invocation};
  if (!invocation.run()) {
    run.report.broken(name, "f", invocation.error());
    return std::nullopt;
  }
  auto readings = counters.measure(rotation);
  if (readings) return *std::move(readings);
  if (readings.error().kind == Refusal::Kind::unsupported) {
    run.report.add(name, "f", Outcome::figures, {{"reason", readings.error().reason}});
  } else {
    run.report.broken(name, "f", readings.error().reason);
  }
  return std::nullopt;
}

// The caches keep some of what is written last.
void count_copy(CheckRun& run, DeviceCounters& counters) {
  constexpr const char* kName = "bytes of a copy of 256 MiB";
  Runtime& device = *run.device.runtime;
  auto one = DeviceBuffer::create(device, {kCopied});
  auto two = DeviceBuffer::create(device, {kCopied});
  if (!one || !two) return run.report.broken(kName, "f", "no memory for it");
  CopyInvocation copy(device, two->data(), one->data());
  const auto readings = measured(run, counters, kName, copy);
  if (!readings) return;
  const auto read = value_of(*readings, CounterQuestion::dram_read_bytes);
  const double share = read.value_or(0) / static_cast<double>(kCopied);
  Figures figures = figures_of(*readings);
  figures["read_by_expected"] = share;
  run.report.passed_if(!read || std::abs(share - 1) <= 0.25, kName, "f", figures);
}

void count_product(CheckRun& run, DeviceCounters& counters) {
  constexpr const char* kName = "tensor operations of a product of 4096^3 in bf16";
  const auto api = load_cublaslt(run.search);
  if (!api) return run.report.broken(kName, "f", api.error().reason);
  const auto backend = make_cublaslt_backend(run.device, *api, process_variable);
  if (!backend) return run.report.broken(kName, "f", backend.error().reason);
  const Operator* op = find_operator("gemm");
  auto parsed = parse_problem_tokens(*op, "m4096n4096k4096+tb");
  const auto problem = make_problem(
      {.op = op, .dtype = DataType::bf16, .parameters = std::move(parsed).value().parameters});
  const auto kernel = (*backend)->create(*problem);
  if (!kernel) return run.report.broken(kName, "f", kernel.error().reason);
  std::vector<DeviceBuffer> memory;
  std::vector<void*> addresses;
  for (const KernelBuffer& buffer : (*kernel)->buffers()) {
    auto made = DeviceBuffer::create(*run.device.runtime, buffer.size);
    if (!made) return run.report.broken(kName, "f", made.error().reason);
    addresses.push_back(made->data());
    memory.push_back(*std::move(made));
  }
  const auto bound = (*kernel)->bind(addresses);
  if (!bound) return run.report.broken(kName, "f", bound.error().message());
  const auto readings = measured(run, counters, kName, **bound);
  if (!readings) return;
  Figures figures = figures_of(*readings);
  figures["expected_operations"] = problem->work.flops;
  const auto counted = value_of(*readings, CounterQuestion::tensor_operations_bf16);
  const double share = counted.value_or(0) / static_cast<double>(problem->work.flops);
  if (counted) figures["counted_by_expected"] = share;
  run.report.passed_if(!counted || std::abs(share - 1) <= 0.02, kName, "f", figures);
}

}  // namespace

void check_counters(CheckRun& run) {
  // For counters an absent library is a reason like others; here it was to be there.
  if (const auto cupti = load_cupti(cupti_candidates(run.search)); !cupti) {
    return run.report.broken("counters", "f", cupti.error().message());
  }
  const auto counters = make_device_counters({.load = [&run]() -> Result<CounterLibrary> {
    BENCH_ASSIGN_OR_RETURN(const CuptiLibrary cupti, load_cupti(cupti_candidates(run.search)));
    return load_counter_library(cupti);
  }});
  count_copy(run, *counters);
  count_product(run, *counters);
}

}  // namespace bench::ops::cuda
