// SPDX-License-Identifier: Apache-2.0
// Computes the facts about a convolution that the tensor-core rules use, and the copies that cuDNN
// makes around its kernel.
#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace bench::ops {
namespace {

constexpr std::int64_t kMaxFirstLayerChannels = 4;  // of cuDNN's first-layer engine
constexpr std::int64_t kFewChannels = 8;            // for which cuDNN often prefers CUDA cores
constexpr std::int64_t kMinGroupChannels = 4;       // of groups that tensor cores multiply
constexpr std::int64_t kFp8ChannelMultiple = 4;     // fp8 engines need a multiple of this per group

bool is_16_bit(Operand operand) { return operand == Operand::f16 || operand == Operand::bf16; }
bool is_fp8(Operand operand) { return operand == Operand::f8_e4m3 || operand == Operand::f8_e5m2; }

ProductSize classify_conv_size(const ConvShape& shape, Operand operand, std::int64_t element) {
  if (shape.groups == 1) {
    if (shape.c > kFewChannels || !is_16_bit(operand)) return ProductSize::regular;
    return shape.c <= kMaxFirstLayerChannels ? ProductSize::first_layer : ProductSize::few_channels;
  }
  if (shape.group_c() == 1) return ProductSize::depthwise;
  if (is_fp8(operand)) {
    return shape.group_c() % kFp8ChannelMultiple == 0 ? ProductSize::regular
                                                      : ProductSize::thin_groups;
  }
  const std::int64_t channels = std::min(shape.group_c(), shape.group_k());
  const std::int64_t min_channels = element == 1 ? kTensorCoreLoad : kMinGroupChannels;
  return channels < min_channels ? ProductSize::thin_groups : ProductSize::regular;
}

// Returns the direction of cuDNN's operation. A transposed convolution is the data gradient of a
// plain one, and its data gradient is the plain one.
Direction cudnn_direction(const Problem& problem, const ConvShape& shape) {
  if (shape.sweep == Sweep::convolution || problem.direction == Direction::backward_weights) {
    return problem.direction;
  }
  return problem.direction == Direction::forward ? Direction::backward_data : Direction::forward;
}

// Architectures on which cuDNN 9.19 needs no copy to write output channels that are not a multiple
// of 16 bytes.
constexpr EnumSet<Sm> kUnpaddedOutput = Sm::sm_80;

Checked multiply_axes(const ConvShape& shape, std::int64_t SpatialAxis::*size) {
  Checked product = 1;
  for (const SpatialAxis& axis : shape.axes) product *= axis.*size;
  return product;
}

}  // namespace

// In nhwc, the channels of a pixel are contiguous. A pixel is a row, and a group is a part of the
// row.
ProblemFacts conv_facts(const Problem& problem, const Platform& platform) {
  const ConvShape shape = conv_shape(problem.parameters);
  const std::int64_t element = info(problem.dtype).bytes;
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cudnn);
  TensorCoreFacts& facts = result.facts;
  facts.direction = cudnn_direction(problem, shape);
  facts.layout = problem.layout == Layout::nchw ? OperandLayout::nchw : OperandLayout::nhwc;
  tensor_core_detail(result, TensorCorePart::layout_ok) =
      fmt::format("layout: {}", to_string(problem.layout));
  const std::int64_t channels = std::gcd(shape.group_c(), shape.group_k());
  facts.alignment = row_alignment(channels % kTensorCoreLine * element);
  check_tensor_core_multiple(result, shape.groups > 1 ? "c/g" : "c", shape.group_c(), element);
  check_tensor_core_multiple(result, shape.groups > 1 ? "k/g" : "k", shape.group_k(), element);
  if (!result.unaligned.empty()) facts.size_alignment = SizeAlignment::unaligned;
  facts.size = classify_conv_size(shape, facts.operand, element);
  tensor_core_detail(result, TensorCorePart::alignment_grade) =
      fmt::format("c = {}, k = {}{}, {} B each", shape.group_c(), shape.group_k(),
                  shape.groups > 1 ? " a group" : "", element);
  tensor_core_detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("c = {}, k = {}, g = {}", shape.c, shape.k, shape.groups);
  return result;
}

std::optional<LibraryCopies> conv_copies(const Problem& convolution, const TensorCoreFacts& facts) {
  const ConvShape shape = conv_shape(convolution.parameters);
  const std::int64_t element = info(convolution.dtype).bytes;
  constexpr EnumSet<ProductSize> kKnown = {ProductSize::regular, ProductSize::few_channels};
  const bool is_known = shape.groups == 1 && kKnown.has(facts.size) && element > 1;
  if (!is_known || facts.generation == LibraryGeneration::cuda10) return std::nullopt;
  const std::int64_t multiple = std::max<std::int64_t>(1, kTensorCoreLoad / element);
  const auto padded = [&](std::int64_t channels) {
    return (Checked(channels) + (multiple - 1)).value().value_or(channels) / multiple * multiple;
  };
  const std::int64_t c = padded(shape.c);
  const std::int64_t k = padded(shape.k);
  const bool nchw = facts.layout == OperandLayout::nchw;
  const bool copies_source = nchw || c != shape.c;
  const bool copies_destination =
      nchw || (k != shape.k && !kUnpaddedOutput.has(facts.architecture));
  if (!copies_source && !copies_destination) return std::nullopt;
  LibraryCopies copies;
  Checked elements = 0;
  if (copies_source) {
    copies.tensors.push_back("source");
    elements += Checked(shape.n) * c * multiply_axes(shape, &SpatialAxis::input);
  }
  copies.tensors.push_back("weights");
  elements += Checked(k) * c * multiply_axes(shape, &SpatialAxis::kernel);
  if (copies_destination) {
    copies.tensors.push_back("destination");
    elements += Checked(shape.n) * k * multiply_axes(shape, &SpatialAxis::output);
  }
  const auto workspace = (elements * element).value();
  const auto traffic = (elements * element * 2).value();
  if (!workspace || !traffic) return std::nullopt;
  copies.workspace_bytes = *workspace;
  copies.conversion_bytes = *traffic;
  return copies;
}

}  // namespace bench::ops
