// SPDX-License-Identifier: Apache-2.0
// Measures a device's maxima: copies, multiply-adds, matrix products of random numbers and of
// zeros, which cost less power.
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/cublas/tuning.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/cuda/runtime/sampler.hpp"
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

// Enqueues whatever a function puts on the stream.
class AnyInvocation final : public CudaInvocation {
 public:
  AnyInvocation(Runtime& device, std::function<Status()> put)
      : CudaInvocation(device), put_(std::move(put)) {}
  Status enqueue(StepObserver*) override { return put_(); }

 private:
  std::function<Status()> put_;
};

struct Timed {
  Nanoseconds each{0};
  std::optional<std::int64_t> clock_hz;
  std::string reason;  // what throttled the clock
};

// Returns the best of three samples.
Result<Timed> measure_best(const CheckRun& run, CudaInvocation& invocation,
                           std::int64_t executions) {
  KernelSampling sampling(run.device.runtime);
  Invocation* const rotation[] = {&invocation};
  std::optional<Timed> best;
  for (int i = 0; i < 3; ++i) {
    BENCH_ASSIGN_OR_RETURN(
        const DeviceSample sample,
        run.device.sampler->sample(sampling, {rotation, 0, executions, SampleMethod::stream}));
    const Timed timed{sample.device / executions, sample.clock_hz, sample.reason};
    if (!best || timed.each < best->each) best = timed;
  }
  return *best;
}

void add(const CheckRun& run, const std::string& name, const Result<Timed>& timed, double amount,
         const char* unit) {
  if (!timed) return run.report.broken(name, "i", timed.error().message());
  const auto nanoseconds = static_cast<double>(timed->each.count());
  Figures figures = {{"us", nanoseconds / 1e3}, {unit, amount / nanoseconds}};
  if (timed->clock_hz) figures["clock_mhz"] = static_cast<double>(*timed->clock_hz) / 1e6;
  if (!timed->reason.empty()) figures["reason"] = timed->reason;
  run.report.add(name, "i", Outcome::figures, figures);
}

void copy_ceilings(const CheckRun& run) {
  constexpr std::int64_t kSize = std::int64_t{512} << 20;
  Runtime& device = *run.device.runtime;
  auto one = DeviceBuffer::create(device, {kSize});
  auto two = DeviceBuffer::create(device, {kSize});
  if (!one || !two) return run.report.broken("copies", "i", "no memory for them");
  AnyInvocation kernel(device, [&] {
    return to_status(launch_copy(device.stream(), two->data(), one->data(), kSize), "copy");
  });
  AnyInvocation library(device,
                        [&] { return device.copy_within(two->data(), one->data(), {kSize}); });
  // Each byte is read and written, hence the factor 2. One byte per nanosecond is one GB/s.
  add(run, "copy by a kernel", measure_best(run, kernel, 10), 2.0 * kSize, "gb_per_s");
  add(run, "copy by the driver", measure_best(run, library, 10), 2.0 * kSize, "gb_per_s");
}

void fma_ceiling(const CheckRun& run) {
  Runtime& device = *run.device.runtime;
  const auto blocks = static_cast<unsigned>(device.traits().multiprocessors) * 8;
  const LaunchShape shape{blocks, 256};
  auto results = DeviceBuffer::create(device, {std::int64_t{blocks} * 256 * 4});
  if (!results) return run.report.broken("multiply-adds", "i", results.error().reason);
  AnyInvocation invocation(device, [&] {
    return to_status(launch_fma(device.stream(), static_cast<float*>(results->data()), 0.5f, shape),
                     "fma");
  });
  add(run, "multiply-adds in f32", measure_best(run, invocation, 20),
      2.0 * kFmaChain * blocks * 256 / 1e3, "tflop_per_s");
}

// Repeats one block of numbers in [-1, 1].
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

Result<Timed> time_product(const CheckRun& run, Backend& backend, const Problem& problem,
                           Numbers numbers) {
  Runtime& device = *run.device.runtime;
  const auto kernel = backend.create(problem);
  if (!kernel) return Error{kernel.error().reason, "", ""};
  const auto memory = trial_buffers(device, (*kernel)->buffers());
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

Result<Problem> square_product(DataType dtype, Math math) {
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

void product_ceilings(const CheckRun& run) {
  const auto api = load_cublaslt(run.search);
  if (!api) return run.report.broken("products", "i", api.error().reason);
  const auto backend = make_cublaslt_backend(run.device, *api, process_variable);
  if (!backend) return run.report.broken("products", "i", backend.error().reason);
  for (const ProductRow& row : kProducts) {
    const std::string_view math = math_names()[static_cast<std::size_t>(row.math)];
    const std::string name =
        fmt::format("8192^3 in {}{}, {}", info(row.dtype).name,
                    row.math == Math::standard ? "" : fmt::format(" as {}", math),
                    row.numbers == Numbers::random ? "random numbers" : "zeros");
    const auto problem = square_product(row.dtype, row.math);
    if (!problem) {
      run.report.broken(name, "i", problem.error().message());
      continue;
    }
    const auto timed = time_product(run, **backend, *problem, row.numbers);
    if (!timed) {
      // A device without this type is not a failure.
      run.report.add(name, "i", Outcome::figures, {{"reason", timed.error().message()}});
    } else {
      add(run, name, timed, static_cast<double>(problem->work.flops) / 1e3, "tflop_per_s");
    }
  }
}

}  // namespace

void check_ceilings(CheckRun& run) {
  copy_ceilings(run);
  fma_ceiling(run);
  product_ceilings(run);
}

}  // namespace bench::ops::cuda
