// SPDX-License-Identifier: Apache-2.0
#include "ops/native/backend.hpp"

#include "base/file.hpp"
#include "base/version.hpp"
#include "ops/backend/plain_kernel.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/native/loops.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using cuda::part_begin;

// Sums of f32 lose their lowest bits beyond this number of steps.
constexpr std::int64_t kExactSteps = 1 << 16;
constexpr std::size_t kMaxElements = 6 * 256;  // six AMX tiles of 16 x 16 accumulators
constexpr std::size_t kAlignment = kCacheLine;

class ArithmeticInvocation final : public Invocation {
 public:
  ArithmeticInvocation(const ArithmeticLoop& loop, ArithmeticCode code, std::int64_t steps,
                       std::span<void* const> buffers)
      : loop_(loop),
        code_(code),
        steps_(steps),
        source_(buffers[0]),
        destination_(buffers[1]),
        threads_(omp_get_max_threads()),
        totals_(static_cast<std::size_t>(threads_ * loop.elements)) {
    const bool is_integer = info(loop.sums).is_integer;
    const double factor = is_integer ? 1 : kFactor;
    const std::int64_t operand_elements = kOperandBytes / info(loop.dtype).bytes;
    for (std::int64_t i = 0; i < 2 * operand_elements; ++i) {
      store_element(loop.dtype, operands_.data(), static_cast<std::size_t>(i), factor);
    }
  }

  bool run() noexcept override {
#pragma omp parallel num_threads(threads_)
    run_part(omp_get_thread_num());
    const auto elements = static_cast<std::size_t>(loop_.elements);
    for (std::size_t i = 0; i < elements; ++i) {
      double sum = load_element(loop_.sums, source_, i);
      for (std::size_t j = i; j < totals_.size(); j += elements) sum += totals_[j];
      store_element(loop_.sums, destination_, i, sum);
    }
    return true;
  }
  std::string error() const override { return {}; }

 private:
  static constexpr double kFactor = 0x1p-6;
  static_assert(kFactor * kFactor == kPeakProduct);

  void run_part(int thread) noexcept {
    const auto elements = static_cast<std::size_t>(loop_.elements);
    double* totals = &totals_[static_cast<std::size_t>(thread) * elements];
    std::fill_n(totals, elements, 0.0);
    alignas(kAlignment) std::array<std::byte, kMaxElements * sizeof(float)> sums;
    std::int64_t remaining_steps =
        part_begin(steps_, thread + 1, threads_) - part_begin(steps_, thread, threads_);
    while (remaining_steps > 0) {
      const std::int64_t steps = std::min(remaining_steps, kExactSteps);
      code_(steps, operands_.data(), sums.data());
      for (std::size_t i = 0; i < elements; ++i) {
        totals[i] += load_element(loop_.sums, sums.data(), i);
      }
      remaining_steps -= steps;
    }
  }

  const ArithmeticLoop& loop_;
  ArithmeticCode code_;
  std::int64_t steps_;
  const void* source_;
  void* destination_;
  int threads_;
  std::vector<double> totals_;
  alignas(kAlignment) std::array<std::byte, 2 * kOperandBytes> operands_{};
};

class MovementInvocation final : public Invocation {
 public:
  MovementInvocation(const MovementLoop& loop, MovementCode code, const Problem& problem,
                     std::span<void* const> buffers)
      : code_(code),
        movement_(loop.movement),
        passes_(peak_steps(problem)),
        chunks_(problem.parameters.count("bytes") / loop.arrays / kPeakChunk),
        threads_(omp_get_max_threads()),
        maxima_(static_cast<std::size_t>(threads_) * kLargest) {
    arrays_.a = static_cast<const float*>(buffers[0]);
    if (movement_ == Movement::triad) arrays_.b = static_cast<const float*>(buffers[1]);
    arrays_.to = static_cast<float*>(buffers.back());
  }

  bool run() noexcept override {
#pragma omp parallel num_threads(threads_)
    run_part(omp_get_thread_num());
    if (movement_ == Movement::read) *arrays_.to = *std::ranges::max_element(maxima_);
    return true;
  }
  std::string error() const override { return {}; }

 private:
  void run_part(int thread) noexcept {
    constexpr std::int64_t kFloats = kPeakChunk / static_cast<std::int64_t>(sizeof(float));
    const std::int64_t begin = part_begin(chunks_, thread, threads_);
    const std::int64_t chunks = part_begin(chunks_, thread + 1, threads_) - begin;
    CopyArrays thread_arrays = arrays_;
    thread_arrays.largest = &maxima_[static_cast<std::size_t>(thread) * kLargest];
    std::fill_n(thread_arrays.largest, kLargest, *arrays_.a);
    // The source of a write is one value, and so is the destination of a read.
    if (movement_ != Movement::write) thread_arrays.a += begin * kFloats;
    if (thread_arrays.b != nullptr) thread_arrays.b += begin * kFloats;
    if (movement_ != Movement::read) thread_arrays.to += begin * kFloats;
    for (std::int64_t pass = 0; chunks > 0 && pass < passes_; ++pass) code_(thread_arrays, chunks);
  }

  MovementCode code_;
  Movement movement_;
  std::int64_t passes_, chunks_;
  int threads_;
  std::vector<float> maxima_;
  CopyArrays arrays_;
};

// Runs a native kernel that a plan describes: each thread does its part.
class PlannedInvocation final : public Invocation {
 public:
  PlannedInvocation(const cuda::HostKernel& kernel, const cuda::NativePlan& plan,
                    std::span<void* const> buffers)
      : kernel_(kernel), plan_(plan), threads_(omp_get_max_threads()) {
    void** next = std::ranges::copy(buffers, addresses_.at).out;
    if (kernel.memory_bytes == nullptr) return;
    memory_.resize(static_cast<std::size_t>(
        round_up(kernel.memory_bytes(plan, threads_), kCacheLine) / kCacheLine));
    *next = memory_.data();
  }

  bool run() noexcept override {
#pragma omp parallel num_threads(threads_)
    {
      kernel_.run_part(plan_, addresses_, omp_get_thread_num(), threads_);
      if (kernel_.finish_part != nullptr) {
#pragma omp barrier
        kernel_.finish_part(plan_, addresses_, omp_get_thread_num(), threads_);
      }
    }
    return true;
  }
  std::string error() const override { return {}; }

 private:
  struct alignas(kCacheLine) Line {
    std::array<std::byte, kCacheLine> bytes;
  };
  const cuda::HostKernel& kernel_;
  cuda::NativePlan plan_;
  int threads_;
  cuda::Addresses addresses_;
  std::vector<Line> memory_;  // that the threads share
};

const cuda::NativeEntry* find_planned(std::string_view op) {
  for (const cuda::NativeEntry* entry : cuda::native_entries()) {
    if (entry->op == op && entry->host.run_part != nullptr) return entry;
  }
  return nullptr;
}

class NativeBackend final : public Backend {
 public:
  explicit NativeBackend(std::string flags) : flags_(std::move(flags)) {}

  std::string_view name() const override { return kNativeBackend; }
  std::string_view device() const override { return "cpu"; }
  LibraryInfo library() const override {
    return {std::string(kNativeBackend), std::string(tool_version()), "", "loops of this program"};
  }
  bool runs_streams() const override { return true; }
  std::optional<BackendError> support_error(const Problem& problem) const override {
    auto loop = choose(problem);
    return loop ? std::nullopt : std::optional(std::move(loop).error());
  }
  std::optional<BackendError> support_error(const Network& /*none*/) const override {
    return no_networks();
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem) override {
    BENCH_ASSIGN_OR_RETURN(PlainCode loop, choose(problem));
    return make_plain_kernel(problem, std::move(loop));
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network& /*none*/) override {
    return no_networks();
  }

 private:
  static BackendError no_networks() { return unsupported("backend native runs no networks"); }

  Result<PlainCode, BackendError> choose(const Problem& problem) const {
    if (const cuda::NativeEntry* entry = find_planned(problem.op->name)) {
      return choose(*entry, problem);
    }
    if (problem.op->name != kPeakOperator) {
      return unsupported(fmt::format("backend native has no kernel of {}, only of {}",
                                     problem.op->name,
                                     fmt::join(operators_on(kNativeBackend), ", ")));
    }
    const std::string& function = problem.parameters.word("function");
    const MovementLoop* movement = find_movement_loop(function);
    return movement != nullptr ? choose(*movement)
                               : choose(*find_arithmetic_loop(function, problem.dtype));
  }

  static Result<PlainCode, BackendError> choose(const cuda::NativeEntry& entry,
                                                const Problem& problem) {
    if (is_fp8(problem.dtype)) {
      return unsupported(fmt::format("backend native has no kernel of {} for {}", problem.op->name,
                                     info(problem.dtype).name));
    }
    if (cuda::is_in_nhwc(problem)) {
      return unsupported("backend native takes plain tensors; leave `layout: nhwc` out");
    }
    BENCH_ASSIGN_OR_RETURN(cuda::NativeForm form, entry.form(problem));
    return PlainCode{
        .name = fmt::format("native:{}", form.kind),
        .bind = [&host = entry.host, plan = std::move(form.plan)](
                    const Problem&, std::span<void* const> buffers) -> std::unique_ptr<Invocation> {
          return std::make_unique<PlannedInvocation>(host, plan, buffers);
        }};
  }

  Result<PlainCode, BackendError> choose(const MovementLoop& loop) const {
    for (const MovementCodeRow& row : movement_codes()) {
      if (row.function != loop.function || !has_flags(flags_, row.flags)) continue;
      return PlainCode{.name = fmt::format("{}:{}", loop.function, row.name),
                       .bind = [&loop, code = row.code](
                                   const Problem& problem,
                                   std::span<void* const> buffers) -> std::unique_ptr<Invocation> {
                         return std::make_unique<MovementInvocation>(loop, code, problem, buffers);
                       }};
    }
    return unsupported(fmt::format("this processor has no vectors for `{}`", loop.function));
  }

  Result<PlainCode, BackendError> choose(const ArithmeticLoop& loop) const {
    if (loop.function == kGpuArithmetic) {
      return unsupported(
          fmt::format("`{}` is a loop of GPUs; use it with `device: cuda`", loop.function));
    }
    const auto codes = arithmetic_codes();
    const auto row = std::ranges::find_if(codes, [&](const ArithmeticCodeRow& code) {
      return code.function == loop.function && code.dtype == loop.dtype;
    });
    if (row == codes.end() || !has_flags(flags_, row->flags)) {
      return unsupported(
          fmt::format("this processor lacks {}", row == codes.end() ? loop.function : row->flags));
    }
    constexpr std::string_view kTiles = "amx";
    if (loop.function == kTiles && !permit_tiles()) {
      return unsupported("the kernel does not permit the tiles of AMX to this process");
    }
    return PlainCode{
        .name = std::string(loop.function),
        .bind = [&loop, code = row->code](const Problem& problem, std::span<void* const> buffers)
            -> std::unique_ptr<Invocation> {
          return std::make_unique<ArithmeticInvocation>(loop, code, peak_steps(problem), buffers);
        }};
  }

  std::string flags_;
};

}  // namespace

std::unique_ptr<Backend> make_native_backend(const std::string& cpuinfo) {
  return std::make_unique<NativeBackend>(processor_flags(cpuinfo));
}

std::unique_ptr<Backend> make_native_backend() {
  constexpr std::int64_t kMaxCpuinfoBytes = 1 << 24;
  const auto cpuinfo = read_file("/proc/cpuinfo", kMaxCpuinfoBytes);
  return make_native_backend(cpuinfo ? *cpuinfo : std::string());
}

}  // namespace bench::ops
