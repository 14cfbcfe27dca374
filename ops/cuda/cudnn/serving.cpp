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
    const bool is_older = row.from && (capability == kNoDevice || capability < *row.from);
    if (has_engines || is_older || !row.applies(problem)) continue;
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

// With 3 channels of 16 bits, cuDNN's engine for first layers copies the source to 4 channels in
// each execution: on an H100 it takes 82 us in all, and 60 us if the source has 4 channels.
std::optional<Problem> padded_part(const Problem& problem) {
  constexpr std::int64_t kChannelUnit = 4, kFewChannels = 8, kHalfBytes = 2;
  if (problem.op->name != "conv" || problem.direction != Direction::forward) return std::nullopt;
  const ConvShape shape = conv_shape(problem.parameters);
  const bool gains = shape.groups == 1 && shape.sweep == Sweep::convolution &&
                     shape.c < kFewChannels && shape.c % kChannelUnit != 0 &&
                     info(problem.dtype).bytes == kHalfBytes &&
                     chosen_layout(problem) == Layout::nhwc;
  if (!gains) return std::nullopt;
  Problem padded = problem;
  const std::int64_t channels = (shape.c + kChannelUnit - 1) / kChannelUnit * kChannelUnit;
  padded.layout = Layout::nhwc;
  padded.parameters.set("c", channels);
  padded.tensors[0].dims[1] = channels;
  return padded;
}

std::string plan_key(const Problem& problem) {
  std::string types;
  for (const Tensor& tensor : problem.tensors) {
    types += fmt::format(" {}", info(tensor.dtype).name);
  }
  return fmt::format("{} {} {} {} {} {}{}", problem.op->name, to_string(problem.direction),
                     info(problem.dtype).name, to_string(chosen_layout(problem)),
                     to_string(problem.math), problem_tokens(problem), types);
}

}  // namespace bench::ops::cuda
