// SPDX-License-Identifier: Apache-2.0
// On the CPU, neighbouring lines are summed together, a chunk of them in vectors.
#include "ops/cumsum/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> cumsum_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  CumsumPlan plan;
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  for (std::size_t d = 0; d < axis; ++d) plan.outer *= shape[d];
  for (std::size_t d = axis + 1; d < shape.size(); ++d) plan.inner *= shape[d];
  plan.size = shape[axis];
  plan.gradient = problem.direction != Direction::forward;
  return plain_form(problem, "bench:cumsum", "cumsum", plan);
}

// A row of the kernel is a chunk of neighbouring lines.
struct CumsumChunks : StatelessRows {
  static constexpr std::int64_t kChunk = 256;
  const CumsumPlan& plan;
  Element type = plan.type;
  std::int64_t chunks = (plan.inner + kChunk - 1) / kChunk;

  std::int64_t rows() const { return plan.outer * chunks; }
  template <class A>
  void write(const A& access, std::int64_t row, State<typename A::Value>, int, int) const {
    using T = typename A::Value;
    if (plan.inner == 1) return plan.sum_line(access, row);
    const std::int64_t begin = row % chunks * kChunk;
    const std::int64_t width = std::min(kChunk, plan.inner - begin);
    alignas(64) T sums[kChunk] = {};
    for (std::int64_t i = 0; i < plan.size; ++i) {
      const std::int64_t step = plan.gradient ? plan.size - 1 - i : i;
      const std::int64_t first = (row / chunks * plan.size + step) * plan.inner + begin;
      for (std::int64_t k = 0; k < width; ++k) sums[k] += access.load(0, first + k);
      for (std::int64_t k = 0; k < width; ++k) access.store(1, first + k, sums[k]);
    }
  }
};

void run_cumsum_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                     int threads) {
  const auto plan = native_plan.as<CumsumPlan>();
  run_part_of_rows(CumsumChunks{{}, plan}, tensors, thread, threads);
}

}  // namespace

extern const NativeEntry cumsum_cuda_native;
const NativeEntry cumsum_cuda_native = {
    .op = "cumsum",
    .form = cumsum_form,
    .host = {CumsumPlan::kKernel, run_rows<CumsumPlan>, run_cumsum_part}};

}  // namespace bench::ops::cuda
