// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/serving.hpp"

#include "ops/conv/conv.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace bench::ops::cuda {
namespace {

std::optional<std::string> find_gap(std::span<const CudnnGap> rows, const Problem& problem,
                                    ComputeCapability capability) {
  for (const CudnnGap& row : rows) {
    const bool has_engines = row.before && (capability == kNoDevice || capability >= *row.before);
    if (has_engines || !row.applies(problem)) continue;
    return std::string(row.reason);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> known_gap(const Problem& problem) {
  const CudnnEntry* entry = find_cudnn_entry(problem.op->name);
  if (entry == nullptr) return fmt::format("bench builds no cuDNN graph for {}", problem.op->name);
  return find_gap(entry->gaps, problem, kNoDevice);
}

std::optional<std::string> expected_gap(const Problem& problem, ComputeCapability capability) {
  const CudnnEntry* entry = find_cudnn_entry(problem.op->name);
  return entry == nullptr ? std::nullopt : find_gap(entry->expected_gaps, problem, capability);
}

ConvSplit conv_split(const Problem& problem) {
  if (problem.op->name != "conv") return ConvSplit::none;
  const bool has_bias = conv_shape(problem.parameters).bias == Bias::present;
  if (problem.direction == Direction::forward) {
    // Without bias and post-ops, the native kernel of an integer convolution only converts.
    const bool has_epilogue =
        has_bias || !problem.post_ops.empty() || info(problem.dtype).is_integer;
    return has_epilogue ? ConvSplit::epilogue : ConvSplit::none;
  }
  const bool needs_bias_gradient = problem.direction == Direction::backward_weights && has_bias;
  return needs_bias_gradient ? ConvSplit::bias_gradient : ConvSplit::none;
}

Problem conv_part(const Problem& problem, DataType intermediate_dtype) {
  Problem part = problem;
  const std::size_t last = problem.tensors.size() - 1;
  part.post_ops.clear();
  part.parameters.set("bias", false);
  const bool is_forward = problem.direction == Direction::forward;
  part.tensors = {problem.tensors[0], problem.tensors[1], problem.tensors[is_forward ? last : 2]};
  if (is_forward) part.tensors.back().dtype = intermediate_dtype;
  return part;
}

std::vector<DataType> intermediate_types(const Problem& problem) {
  const DataTypeInfo& type = info(problem.dtype);
  constexpr std::int64_t kWordBytes = 4;
  if (type.is_integer) return {DataType::f32};
  if (type.bytes < kWordBytes) return {DataType::f32, problem.dtype};
  return {problem.dtype};
}

std::string plan_key(const Problem& problem) {
  std::string types;
  for (const Tensor& tensor : problem.tensors) {
    types += fmt::format(" {}", info(tensor.dtype).name);
  }
  return fmt::format(
      "{} {} {} {} {} {}{}", problem.op->name,
      direction_names()[static_cast<std::size_t>(problem.direction)], info(problem.dtype).name,
      layout_names()[static_cast<std::size_t>(chosen_layout(problem))],
      math_names()[static_cast<std::size_t>(problem.math)], problem_tokens(problem), types);
}

}  // namespace bench::ops::cuda
