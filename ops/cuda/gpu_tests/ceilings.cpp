// SPDX-License-Identifier: Apache-2.0
// Measures a device's maximum rates: copies, multiply-adds, and matrix products of random numbers.
// Also measures a product of zeros, which needs less power.
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/kernels/device/device_launcher.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/cuda/runtime/tuner.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Enqueues the work that a function puts on the stream.
class FunctionInvocation final : public CudaInvocation {
 public:
  FunctionInvocation(Runtime& device, std::function<Status()> enqueue_function)
      : CudaInvocation(device), enqueue_(std::move(enqueue_function)) {}
  Status enqueue(StepObserver*) override { return enqueue_(); }

 private:
  std::function<Status()> enqueue_;
};

struct Timing {
  Nanoseconds execution{0};  // time of one execution
  std::optional<std::int64_t> clock_hz;
  std::string reason;  // what throttled the clock
};

// Returns the best of three samples.
Result<Timing> measure_best(const CheckRun& run, CudaInvocation& invocation,
                            std::int64_t executions) {
  KernelSampling sampling(run.device.runtime);
  Invocation* const rotation[] = {&invocation};
  std::optional<Timing> best;
  for (int i = 0; i < 3; ++i) {
    BENCH_ASSIGN_OR_RETURN(
        const DeviceSample sample,
        run.device.sampler->sample(sampling, {rotation, 0, executions, SampleMethod::stream}));
    const Timing timing{sample.device / executions, sample.clock_hz, sample.reason};
    if (!best || timing.execution < best->execution) best = timing;
  }
  return *best;
}

// Reports `amount` / time as a rate in `unit`.
void add_ceiling(const CheckRun& run, const std::string& name, const Result<Timing>& timing,
                 double amount, const char* unit) {
  if (!timing) return run.report.add_error(name, "i", timing.error().message());
  const auto nanoseconds = static_cast<double>(timing->execution.count());
  Figures figures = {{"us", nanoseconds / 1e3}, {unit, amount / nanoseconds}};
  if (timing->clock_hz) figures["clock_mhz"] = static_cast<double>(*timing->clock_hz) / 1e6;
  if (!timing->reason.empty()) figures["reason"] = timing->reason;
  run.report.add(name, "i", Outcome::figures, figures);
}

void measure_copy_ceilings(const CheckRun& run) {
  constexpr std::int64_t kSize = std::int64_t{512} << 20;
  Runtime& device = *run.device.runtime;
  auto one = DeviceBuffer::create(device, {kSize});
  auto two = DeviceBuffer::create(device, {kSize});
  if (!one || !two) return run.report.add_error("copies", "i", "no memory for them");
  FunctionInvocation kernel(device, [&] {
    return to_cuda_status(launch_copy(device.stream(), two->data(), one->data(), kSize), "copy");
  });
  FunctionInvocation library(device,
                             [&] { return device.copy_within(two->data(), one->data(), {kSize}); });
  // The factor 2 counts that each byte is read and written. One byte per nanosecond is one GB/s.
  add_ceiling(run, "copy by a kernel", measure_best(run, kernel, 10), 2.0 * kSize, "gb_per_s");
  add_ceiling(run, "copy by the driver", measure_best(run, library, 10), 2.0 * kSize, "gb_per_s");
}

void measure_fma_ceiling(const CheckRun& run) {
  Runtime& device = *run.device.runtime;
  const auto blocks = static_cast<unsigned>(device.traits().multiprocessors) * 8;
  const LaunchShape shape{blocks, 256};
  auto results = DeviceBuffer::create(device, {std::int64_t{blocks} * 256 * 4});
  if (!results) return run.report.add_error("multiply-adds", "i", results.error().reason);
  FunctionInvocation invocation(device, [&] {
    return to_cuda_status(
        launch_fma(device.stream(), static_cast<float*>(results->data()), 0.5f, shape), "fma");
  });
  add_ceiling(run, "multiply-adds in f32", measure_best(run, invocation, 20),
              2.0 * kFmaChain * blocks * 256 / 1e3, "tflop_per_s");
}

// Fills a tensor with copies of one block of random numbers in [-1, 1], or [-100, 100] for
// integers.
Status fill_randomly(Runtime& device, void* target, const Tensor& tensor) {
  constexpr std::int64_t kBlock = 1 << 16;
  const std::int64_t width = info(tensor.dtype).bytes;
  const std::int64_t count = std::min(kBlock, tensor.elements());
  std::vector<std::uint8_t> block(static_cast<std::size_t>(count * width));
  std::mt19937_64 random(1);
  const double scale = info(tensor.dtype).is_integer ? 100 : 1;
  std::uniform_real_distribution<double> uniform(-scale, scale);
  for (std::int64_t i = 0; i < count; ++i) {
    store_element(tensor.dtype, block.data(), static_cast<std::size_t>(i), uniform(random));
  }
  BENCH_RETURN_IF_ERROR(device.copy_in(target, block.data(), {count * width}));
  const std::int64_t total = tensor.elements() * width;
  for (std::int64_t done = count * width; done < total; done *= 2) {
    BENCH_RETURN_IF_ERROR(device.copy_within(static_cast<std::uint8_t*>(target) + done, target,
                                             {std::min(done, total - done)}));
  }
  return device.synchronise();
}

enum class Numbers { random, zeros };

Result<Timing> measure_product(const CheckRun& run, Backend& backend, const Problem& problem,
                               Numbers numbers) {
  Runtime& device = *run.device.runtime;
  const auto kernel = backend.create(problem);
  if (!kernel) return Error{kernel.error().reason, "", ""};
  const auto memory = allocate_trial_buffers(device, (*kernel)->buffers());
  if (!memory) return Error{memory.error().reason, "", ""};
  const std::vector<void*> addresses = buffer_addresses(*memory);
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    BENCH_RETURN_IF_ERROR(numbers == Numbers::random
                              ? fill_randomly(device, addresses[i], problem.tensors[i])
                              : device.fill(addresses[i], 0, (*memory)[i].size()));
  }
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Invocation> bound, (*kernel)->bind(addresses));
  return measure_best(run, static_cast<CudaInvocation&>(*bound), 10);
}

Result<Problem> make_square_product(DataType dtype, Math math) {
  const Operator* op = find_operator("gemm");
  BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed, parse_problem_tokens(*op, "m8192n8192k8192+tb"));
  return make_problem(
      {.op = op, .dtype = dtype, .math = math, .parameters = std::move(parsed.parameters)});
}

struct ProductRow {
  DataType dtype;
  Math math;
  Numbers numbers;
};
constexpr ProductRow kProducts[] = {{DataType::bf16, Math::standard, Numbers::random},
                                    {DataType::bf16, Math::standard, Numbers::zeros},
                                    {DataType::f16, Math::standard, Numbers::random},
                                    {DataType::f32, Math::tf32, Numbers::random},
                                    {DataType::f32, Math::standard, Numbers::random},
                                    {DataType::f64, Math::standard, Numbers::random},
                                    {DataType::s8, Math::standard, Numbers::random},
                                    {DataType::f8_e4m3, Math::standard, Numbers::random},
                                    {DataType::f8_e4m3, Math::fast_accumulation, Numbers::random}};

void measure_product_ceilings(const CheckRun& run) {
  const auto api = load_cublaslt(run.search);
  if (!api) return run.report.add_error("products", "i", api.error().reason);
  const auto backend = make_cublaslt_backend(
      {run.device, process_variable, make_device_launcher(run.device.runtime)}, *api);
  if (!backend) return run.report.add_error("products", "i", backend.error().reason);
  for (const ProductRow& row : kProducts) {
    const std::string_view math = to_string(row.math);
    const std::string name =
        fmt::format("8192^3 in {}{}, {}", info(row.dtype).name,
                    row.math == Math::standard ? "" : fmt::format(" as {}", math),
                    row.numbers == Numbers::random ? "random numbers" : "zeros");
    const auto problem = make_square_product(row.dtype, row.math);
    if (!problem) {
      run.report.add_error(name, "i", problem.error().message());
      continue;
    }
    const auto timing = measure_product(run, **backend, *problem, row.numbers);
    if (!timing) {
      // A device without this type is not a failure.
      run.report.add(name, "i", Outcome::figures, {{"reason", timing.error().message()}});
    } else {
      add_ceiling(run, name, timing, static_cast<double>(problem->work.flops) / 1e3, "tflop_per_s");
    }
  }
}

}  // namespace

void check_ceilings(CheckRun& run) {
  measure_copy_ceilings(run);
  measure_fma_ceiling(run);
  measure_product_ceilings(run);
}

}  // namespace bench::ops::cuda
