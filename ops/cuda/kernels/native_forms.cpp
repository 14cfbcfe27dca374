// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/native_forms.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/conv/conv.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/problem_elements.hpp"
#include "ops/cuda/kernels/transpose_functions.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench::ops::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;
using FormResult = Result<NativeForm, BackendError>;

constexpr std::string_view kCopy = "bench:reorder_strided";
constexpr std::string_view kTranspose = "bench:reorder_tiled";
constexpr std::string_view kPixelTranspose = "bench:reorder_pixels";
constexpr std::string_view kPadding = "bench:pad_channels";
constexpr std::string_view kChannelSum = "bench:channel_sum_block";

std::int64_t product(const Sizes& sizes, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= sizes[i];
  return result;
}

// Returns the strides of n, block of channels, channel within the block, position.
Sizes split_strides(const Dims& dims, MemoryLayout layout) {
  const std::int64_t volume = product(dims, 2, dims.size());
  const std::int64_t blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  switch (layout) {
    case MemoryLayout::plain:
      return {dims[1] * volume, kChannelBlock * volume, volume, 1};
    case MemoryLayout::nhwc:
      return {dims[1] * volume, kChannelBlock, 1, dims[1]};
    case MemoryLayout::blocked16:
      break;
  }
  return {blocks * kChannelBlock * volume, kChannelBlock * volume, 1, kChannelBlock};
}

Result<ElementwisePlan, BackendError> plan_blocked_copy(const Dims& dims, DataType dtype,
                                                        MemoryLayout from, MemoryLayout to) {
  constexpr int kBlockDim = 1, kWithinDim = 2;
  const std::int64_t blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  ElementwisePlanner planner({dims[0], blocks, kChannelBlock, product(dims, 2, dims.size())},
                             to_precision(dtype));
  planner.operand(0, dtype, split_strides(dims, from));
  planner.destination(1, dtype, split_strides(dims, to));
  if (dims[1] % kChannelBlock != 0) {
    planner.set_padding(to == MemoryLayout::blocked16 ? PaddingMode::zero : PaddingMode::skip,
                        kBlockDim, kWithinDim, kChannelBlock, dims[1]);
  }
  return planner.finish();
}

TransposePlan plan_transpose(const Dims& dims, DataType dtype, MemoryLayout from) {
  const std::int64_t volume = product(dims, 2, dims.size());
  TransposePlan plan;
  plan.batch = dims[0];
  plan.rows = from == MemoryLayout::plain ? dims[1] : volume;
  plan.columns = from == MemoryLayout::plain ? volume : dims[1];
  plan.bytes = static_cast<int>(info(dtype).bytes);
  return plan;
}

}  // namespace

int tensor_number(const Problem& problem, std::string_view name) {
  const auto tensor = std::ranges::find(problem.tensors, name, &Tensor::name);
  return tensor == problem.tensors.end() ? -1 : static_cast<int>(tensor - problem.tensors.begin());
}

std::string layout_name(std::span<const std::int64_t> dims, MemoryLayout layout) {
  return std::string(dims.size() < 3 ? "plain" : to_string(layout));
}

NativeTensor native_tensor(const Tensor& tensor, MemoryLayout layout) {
  return {make_arrangement(tensor.dims, layout), tensor.dtype, layout_name(tensor.dims, layout)};
}

std::vector<NativeTensor> native_tensors(const Problem& problem, MemoryLayout layout) {
  std::vector<NativeTensor> tensors;
  for (const Tensor& tensor : problem.tensors) tensors.push_back(native_tensor(tensor, layout));
  return tensors;
}

Layout chosen_layout(const Problem& problem) {
  if (problem.layout != Layout::any) return problem.layout;
  if (problem.dtype == DataType::f64) return Layout::nchw;  // pooling has no nhwc engine
  constexpr std::int64_t kWordBytes = 4;
  const bool is_narrow = info(problem.dtype).bytes < kWordBytes;
  const bool has_products = problem.work.macs.has_value();
  return is_narrow || !has_products || problem.math == Math::tf32 ? Layout::nhwc : Layout::nchw;
}

MemoryLayout requested_layout(const Problem& problem) {
  return problem.layout == Layout::nhwc ? MemoryLayout::nhwc : MemoryLayout::plain;
}

bool is_in_nhwc(const Problem& problem) {
  constexpr std::size_t kMinRank = 3;
  return requested_layout(problem) == MemoryLayout::nhwc &&
         problem.tensors[0].dims.size() >= kMinRank;
}

FormResult native_form(const Problem& problem) {
  for (const NativeEntry* entry : native_entries()) {
    if (entry->op == problem.op->name) return entry->form(problem);
  }
  return unsupported(fmt::format("there is no native kernel for {}", problem.op->name));
}

NativeForm transposition_form(const TransposePlan& plan) {
  const std::string_view name = has_few_channels(plan) ? kPixelTranspose : kTranspose;
  return {std::string(name), "reorder", NativePlan(plan), {}};
}

FormResult strided_copy_form(const Dims& dims, const CopySide& from, const CopySide& to) {
  ElementwisePlanner planner(dims, to_precision(from.dtype));
  planner.operand(0, from.dtype, from.strides);
  planner.destination(1, to.dtype, to.strides);
  BENCH_ASSIGN_OR_RETURN(const ElementwisePlan plan, planner.finish());
  return NativeForm{std::string(kCopy), "reorder", NativePlan(plan), {}};
}

FormResult reorder_form(const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to) {
  const auto make_form = [&]() -> FormResult {
    if (from == MemoryLayout::blocked16 || to == MemoryLayout::blocked16) {
      BENCH_ASSIGN_OR_RETURN(const ElementwisePlan plan, plan_blocked_copy(dims, dtype, from, to));
      return NativeForm{std::string(kCopy), "reorder", NativePlan(plan), {}};
    }
    if (!same_order(dims, from, to)) return transposition_form(plan_transpose(dims, dtype, from));
    return strided_copy_form(dims, {dtype, layout_strides(dims, from)},
                             {dtype, layout_strides(dims, to)});
  };
  BENCH_ASSIGN_OR_RETURN(NativeForm form, make_form());
  form.tensors = {{make_arrangement(dims, from), dtype, layout_name(dims, from)},
                  {make_arrangement(dims, to), dtype, layout_name(dims, to)}};
  return form;
}

NativeForm padding_form(const Dims& dims, DataType dtype, std::int64_t padded_channels) {
  PadPlan plan;
  plan.pixels = dims[0] * product(dims, 2, dims.size());
  plan.channels = dims[1];
  plan.padded = padded_channels;
  plan.bytes = static_cast<int>(info(dtype).bytes);
  Dims padded_dims = dims;
  padded_dims[1] = padded_channels;
  const auto strides = layout_strides(padded_dims, MemoryLayout::nhwc);
  const std::int64_t elements = plan.pixels * plan.padded;
  const std::string layout = layout_name(dims, MemoryLayout::nhwc);
  return {std::string(kPadding),
          "padding",
          NativePlan(plan),
          {{make_arrangement(dims, MemoryLayout::nhwc), dtype, layout},
           {padded_arrangement(dims, strides, elements), dtype,
            fmt::format("{} with {} channels", layout, padded_channels)}}};
}

std::size_t epilogue_start(const Problem& problem) {
  constexpr std::size_t kAfterWeights = 2;
  const bool adds_own_bias = problem.op->name == "gemm" && problem.parameters.flag("bias");
  return kAfterWeights + (adds_own_bias ? 1 : 0);
}

FormResult epilogue_form(const Problem& problem, DataType intermediate_dtype, MemoryLayout layout) {
  ProblemElements elements(problem, layout);
  elements.intermediate(intermediate_dtype);
  std::size_t next = epilogue_start(problem);
  if (problem.op->name == "conv" && conv_shape(problem.parameters).bias == Bias::present) {
    elements.planner().step(combine_step(Combination::add, elements.channels(next++)));
  }
  for (const PostOp& post_op : problem.post_ops) {
    if (post_op.function == "add") {
      elements.planner().step(combine_step(Combination::add, elements.operand(next++)));
      continue;
    }
    const auto function = find_function(post_op.function);
    if (!function) {
      return unsupported(fmt::format("there is no native kernel for `{}`", post_op.function));
    }
    elements.planner().step(function_step(*function, post_op.alpha, post_op.beta));
  }
  return elements.finish("epilogue");
}

NativeForm bias_gradient_form(const Problem& problem, MemoryLayout layout) {
  const Tensor& source = problem.tensors[1];  // source, diff_destination, diff_weights, diff_bias
  const Tensor& destination = problem.tensors.back();
  ChannelSumPlan plan;
  plan.images = source.dims[0];
  plan.channels = source.dims[1];
  plan.volume = product(source.dims, 2, source.dims.size());
  plan.image_stride = plan.channels * plan.volume;
  const bool channels_innermost = layout == MemoryLayout::nhwc;
  plan.channel_stride = channels_innermost ? 1 : plan.volume;
  plan.position_stride = channels_innermost ? plan.channels : 1;
  plan.source_type = to_element(source.dtype);
  plan.destination_type = to_element(destination.dtype);
  plan.precision = to_precision(source.dtype);
  return {std::string(kChannelSum),
          "bias_gradient",
          NativePlan(plan),
          {native_tensor(source, layout), native_tensor(destination, MemoryLayout::plain)}};
}

}  // namespace bench::ops::cuda
