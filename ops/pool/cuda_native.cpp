// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/pool/pool.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

struct PoolingRow {
  std::string_view function;
  Pooling pooling;
};
constexpr PoolingRow kPoolings[] = {{kPoolMax, Pooling::max},
                                    {kPoolIncludePad, Pooling::include_pad},
                                    {kPoolExcludePad, Pooling::exclude_pad}};

// Returns the strides of a tensor whose dimensions are n, c and the spatial ones.
PoolStrides make_strides(const Tensor& tensor, MemoryLayout layout) {
  const std::vector<std::int64_t> all = layout_strides(tensor.dims, layout);
  PoolStrides strides;
  strides.image = all[0];
  strides.channel = all[1];
  std::copy(all.begin() + 2, all.end(), std::end(strides.axes) - (all.size() - 2));
  return strides;
}

// Joins axis `outer` and the next one if their windows are a contiguous piece of memory. The
// pooling of whole images thus gets one long row.
void join_axes(PoolPlan& plan, std::size_t outer) {
  PoolAxis& a = plan.axes[outer];
  PoolAxis& b = plan.axes[outer + 1];
  const bool is_contiguous = b.kernel == b.input && b.before == 0 && a.before == 0 &&
                             a.output == 1 && b.output == 1 &&
                             plan.source.axes[outer] == plan.source.axes[outer + 1] * b.input;
  if (!is_contiguous) return;
  b = {.input = a.input * b.input, .kernel = a.kernel * b.input};
  a = {};
}

Result<NativeForm, BackendError> pool_form(const Problem& problem) {
  if (problem.direction != Direction::forward) {
    return unsupported("there is no native kernel for gradients of pooling");
  }
  const MemoryLayout layout =
      chosen_layout(problem) == Layout::nhwc ? MemoryLayout::nhwc : MemoryLayout::plain;
  const std::string_view function = problem.parameters.word("function");
  PoolPlan plan;
  plan.pooling = std::ranges::find(kPoolings, function, &PoolingRow::function)->pooling;
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  plan.images = problem.parameters.count("n");
  plan.channels = problem.parameters.count("c");
  const std::vector<SpatialAxis> axes = pool_axes(problem.parameters);
  std::ranges::transform(axes, std::end(plan.axes) - axes.size(), [](const SpatialAxis& axis) {
    return PoolAxis{axis.input, axis.output, axis.kernel, axis.stride, axis.pad.begin};
  });
  plan.source = make_strides(problem.tensors[0], layout);
  plan.destination = make_strides(problem.tensors[1], layout);
  join_axes(plan, 0);
  join_axes(plan, 1);
  const int lanes = chunk_lanes(plan.type);
  const bool fills_chunks = layout == MemoryLayout::nhwc && plan.channels % lanes == 0;
  if (fills_chunks && count_positions(plan) / lanes <= kMaxChunkPositions) plan.lanes = lanes;
  return NativeForm{plan.lanes > 1 ? "bench:pool_vector" : "bench:pool_scalar", "pool",
                    NativePlan(plan), native_tensors(problem, layout)};
}

template <class Window, class T, class Access>
void pool_positions(const PoolPlan& plan, const Access& access, const Addresses& tensors) {
  const std::int64_t count = count_positions(plan);
  for (std::int64_t i = 0; i < count; ++i) pool_position<Window, T>(plan, access, tensors, i);
}

template <class T, class Access>
void pool_by_window(const PoolPlan& plan, const Access& access, const Addresses& tensors) {
  if (plan.pooling == Pooling::max) {
    pool_positions<MaxOfWindow, T>(plan, access, tensors);
  } else {
    pool_positions<SumOfWindow, T>(plan, access, tensors);
  }
}

void run_pool(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<PoolPlan>();
  if (plan.lanes > 1) {
    run_by_chunk(plan.type,
                 [&](const auto& access) { pool_by_window<float>(plan, access, tensors); });
    return;
  }
  run_by(plan.precision, [&](auto zero) {
    using Value = decltype(zero);
    pool_by_window<Value>(plan, ScalarAccess<Value>{plan.type}, tensors);
  });
}

}  // namespace

extern const NativeEntry pool_cuda_native;
const NativeEntry pool_cuda_native = {
    .op = "pool", .form = pool_form, .host = {PoolPlan::kKernel, run_pool}};

}  // namespace bench::ops::cuda
