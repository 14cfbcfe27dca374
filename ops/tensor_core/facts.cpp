// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor_core/facts.hpp"

#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace bench::ops {
namespace {

constexpr std::int64_t kLoad = 16;  // bytes that one thread reads or writes at once
constexpr std::int64_t kLine = 128;
constexpr std::int64_t kFewest = 4;       // asynchronous copies move at least this many bytes
constexpr std::int64_t kTileSide = 8;     // the shortest side of any tensor-core instruction
constexpr std::int64_t kFirstLayer = 4;   // channels that cuDNN's engine for first layers takes
constexpr std::int64_t kFp8Channels = 4;  // cuDNN's engines for fp8 take groups in multiples of it

Operand operand_of(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
      return Operand::f64;
    case DataType::f32:
      return Operand::tf32;
    case DataType::f16:
      return Operand::f16;
    case DataType::bf16:
      return Operand::bf16;
    case DataType::s8:
      return Operand::s8;
    case DataType::u8:
    case DataType::s32:  // not a case's data type
      return Operand::u8;
    case DataType::f8_e4m3:
      return Operand::f8_e4m3;
    case DataType::f8_e5m2:
      return Operand::f8_e5m2;
  }
  return Operand::u8;
}

Knowledge knowledge_of(const Platform& platform) {
  if (platform.libraries < platform.architecture->first) return Knowledge::older;
  if (platform.libraries > platform.architecture->last) return Knowledge::dropped;
  return Knowledge::known;
}

RowAlignment alignment_of(std::int64_t bytes) {
  if (bytes % kLine == 0) return RowAlignment::at_128;
  if (bytes % kLoad == 0) return RowAlignment::at_16;
  return bytes % kFewest == 0 ? RowAlignment::below_16 : RowAlignment::below_4;
}

std::string& detail(ProblemFacts& problem, TensorCorePart part) {
  return problem.facts.details[static_cast<std::size_t>(part)];
}

ProblemFacts common_facts(const Problem& problem, const Platform& platform,
                          TensorCoreLibrary library) {
  ProblemFacts result;
  TensorCoreFacts& facts = result.facts;
  facts.library = library;
  facts.architecture = platform.architecture->id;
  facts.generation = platform.libraries;
  facts.knowledge = knowledge_of(platform);
  facts.operand = operand_of(problem.dtype);
  facts.math = problem.math;
  facts.direction = problem.direction;
  const std::string_view type = info(problem.dtype).name;
  detail(result, TensorCorePart::arch_supports) =
      facts.knowledge == Knowledge::known
          ? fmt::format("{} on {}", type, platform.architecture->name)
          : fmt::format("{} for {}", info(platform.libraries).libraries,
                        platform.architecture->name);
  detail(result, TensorCorePart::math_mode_allows) = type;
  return result;
}

// Records a size that is not a multiple of 16 bytes.
void check_multiple(ProblemFacts& problem, std::string_view name, std::int64_t size,
                    std::int64_t element) {
  const std::int64_t unit = std::max<std::int64_t>(1, kLoad / element);
  if (size % unit == 0) return;
  const auto padded = (Checked(size / unit) + 1) * unit;
  problem.unaligned.push_back({name, size, padded.value().value_or(size)});
}

// A matrix with the size of its rows, which is its leading dimension.
struct Rows {
  std::string_view tensor;
  std::string_view name;  // name of the size
  std::int64_t size;
};

std::array<Rows, 3> rows_of(const GemmShape& shape) {
  const bool a_plain = shape.a == Storage::plain;
  const bool b_plain = shape.b == Storage::plain;
  return {{{"source", a_plain ? "k" : "m", a_plain ? shape.k : shape.m},
           {"weights", b_plain ? "n" : "k", b_plain ? shape.n : shape.k},
           {"destination", "n", shape.n}}};
}

std::int64_t element_bytes(const Problem& problem, std::string_view tensor) {
  const auto found = std::find_if(problem.tensors.begin(), problem.tensors.end(),
                                  [&](const Tensor& each) { return each.name == tensor; });
  return found == problem.tensors.end() ? info(problem.dtype).bytes : info(found->dtype).bytes;
}

// The worst row alignment decides; batches start at multiples of rows.
void set_gemm_alignment(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  std::optional<RowAlignment> worst;
  for (const Rows& rows : rows_of(shape)) {
    const std::int64_t element = element_bytes(problem, rows.tensor);
    // Only the remainder modulo a line matters; the full product might overflow.
    const std::int64_t bytes = rows.size % kLine * element;
    const RowAlignment alignment = alignment_of(bytes);
    if (worst && alignment >= *worst) continue;
    worst = alignment;
    detail(result, TensorCorePart::alignment_grade) =
        fmt::format("{}: rows of {} = {} x {} B", rows.tensor, rows.name, rows.size, element);
  }
  result.facts.alignment = *worst;
}

// Libraries that require multiples require them of all three sizes; others only of the row sizes.
void check_gemm_multiples(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  const auto rows = rows_of(shape);
  const Rows all[] = {{"", "m", shape.m}, {"", "n", shape.n}, {"", "k", shape.k}};
  for (const Rows& size : all) {
    const bool is_row = std::any_of(rows.begin(), rows.end(),
                                    [&](const Rows& row) { return row.name == size.name; });
    if (is_row || result.facts.generation == LibraryGeneration::cuda10) {
      check_multiple(result, size.name, size.size, info(problem.dtype).bytes);
    }
  }
  if (!result.unaligned.empty()) result.facts.multiples = Multiples::broken;
}

ProductSize gemm_size(const GemmShape& shape, Operand operand) {
  const bool is_int8 = operand == Operand::s8 || operand == Operand::u8;
  if (is_int8 && (shape.n % 4 != 0 || shape.k % 4 != 0)) return ProductSize::uneven;
  if (shape.m == 1 || shape.n == 1) return ProductSize::vector;
  if (shape.k == 1) return ProductSize::rank_one;
  return std::min(shape.m, shape.n) < kTileSide ? ProductSize::small : ProductSize::regular;
}

ProblemFacts gemm_facts(const Problem& problem, const Platform& platform) {
  const GemmShape shape = gemm_shape(problem.parameters);
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cublas);
  TensorCoreFacts& facts = result.facts;
  const bool along_k = shape.a == Storage::plain && shape.b == Storage::transposed;
  facts.layout = along_k ? OperandLayout::k_contiguous : OperandLayout::transposed;
  detail(result, TensorCorePart::layout_ok) = fmt::format(
      "trans_a: {}, trans_b: {}", shape.a == Storage::transposed, shape.b == Storage::transposed);
  set_gemm_alignment(problem, shape, result);
  check_gemm_multiples(problem, shape, result);
  facts.size = gemm_size(shape, facts.operand);
  detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("m = {}, n = {}, k = {}", shape.m, shape.n, shape.k);
  return result;
}

bool is_16_bit(Operand operand) { return operand == Operand::f16 || operand == Operand::bf16; }
bool is_fp8(Operand operand) { return operand == Operand::f8_e4m3 || operand == Operand::f8_e5m2; }

ProductSize conv_size(const ConvShape& shape, Operand operand, std::int64_t element) {
  if (shape.groups == 1) {
    return shape.c <= kFirstLayer && is_16_bit(operand) ? ProductSize::first_layer
                                                        : ProductSize::regular;
  }
  if (shape.group_c() == 1) return ProductSize::depthwise;
  if (is_fp8(operand)) {
    return shape.group_c() % kFp8Channels == 0 ? ProductSize::regular : ProductSize::thin_groups;
  }
  // Few channels: multiplying a number by at most 16 cannot overflow.
  const std::int64_t narrowest = std::min(shape.group_c(), shape.group_k());
  return narrowest < kLoad / element ? ProductSize::thin_groups : ProductSize::regular;
}

// Returns cuDNN's operation. A transposed convolution is the data gradient of a plain one, and its
// data gradient is the plain one.
Direction cudnn_direction(const Problem& problem, const ConvShape& shape) {
  if (shape.sweep == Sweep::convolution || problem.direction == Direction::backward_weights) {
    return problem.direction;
  }
  return problem.direction == Direction::forward ? Direction::backward_data : Direction::forward;
}

// In nhwc channels are contiguous: a pixel is a row, and a group is a part of it.
ProblemFacts conv_facts(const Problem& problem, const Platform& platform) {
  const ConvShape shape = conv_shape(problem.parameters);
  const std::int64_t element = info(problem.dtype).bytes;
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cudnn);
  TensorCoreFacts& facts = result.facts;
  facts.direction = cudnn_direction(problem, shape);
  facts.layout = problem.layout == Layout::nchw ? OperandLayout::nchw : OperandLayout::nhwc;
  detail(result, TensorCorePart::layout_ok) =
      fmt::format("layout: {}", layout_names()[static_cast<std::size_t>(problem.layout)]);
  const std::int64_t channels = std::gcd(shape.group_c(), shape.group_k());
  facts.alignment = alignment_of(channels % kLine * element);
  check_multiple(result, shape.groups > 1 ? "c/g" : "c", shape.group_c(), element);
  check_multiple(result, shape.groups > 1 ? "k/g" : "k", shape.group_k(), element);
  if (!result.unaligned.empty()) facts.multiples = Multiples::broken;
  facts.size = conv_size(shape, facts.operand, element);
  detail(result, TensorCorePart::alignment_grade) =
      fmt::format("c = {}, k = {}{}, {} B each", shape.group_c(), shape.group_k(),
                  shape.groups > 1 ? " a group" : "", element);
  detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("c = {}, k = {}, g = {}", shape.c, shape.k, shape.groups);
  return result;
}

struct FactsRow {
  std::string_view op;
  ProblemFacts (*of)(const Problem& problem, const Platform& platform);
};
constexpr std::array<FactsRow, 2> kFacts = {{{"conv", conv_facts}, {"gemm", gemm_facts}}};

// Architectures on which cuDNN 9.19 writes output channels that are not a multiple of 16 bytes
// without a copy.
constexpr AnyOf<Sm> kUnpaddedOutput = Sm::sm_80;

Checked product_of(const ConvShape& shape, std::int64_t SpatialAxis::*size) {
  Checked product = 1;
  for (const SpatialAxis& axis : shape.axes) product *= axis.*size;
  return product;
}

}  // namespace

std::optional<ProblemFacts> facts_of(const Problem& problem, const Platform& platform) {
  for (const FactsRow& row : kFacts) {
    if (row.op == problem.op->name) return row.of(problem, platform);
  }
  return std::nullopt;
}

std::optional<LibraryCopies> copies_of(const Problem& convolution, const TensorCoreFacts& facts) {
  const ConvShape shape = conv_shape(convolution.parameters);
  const std::int64_t element = info(convolution.dtype).bytes;
  const bool known = shape.groups == 1 && facts.size == ProductSize::regular && element > 1;
  if (!known || facts.generation == LibraryGeneration::cuda10) return std::nullopt;
  const std::int64_t unit = std::max<std::int64_t>(1, kLoad / element);
  const auto padded = [&](std::int64_t channels) {
    return (Checked(channels) + (unit - 1)).value().value_or(channels) / unit * unit;
  };
  const std::int64_t c = padded(shape.c);
  const std::int64_t k = padded(shape.k);
  const bool nchw = facts.layout == OperandLayout::nchw;
  const bool source = nchw || c != shape.c;
  const bool destination = nchw || (k != shape.k && !kUnpaddedOutput.has(facts.architecture));
  if (!source && !destination) return std::nullopt;
  LibraryCopies copies;
  Checked elements = 0;
  if (source) {
    copies.tensors.push_back("source");
    elements += Checked(shape.n) * c * product_of(shape, &SpatialAxis::input);
  }
  copies.tensors.push_back("weights");
  elements += Checked(k) * c * product_of(shape, &SpatialAxis::kernel);
  if (destination) {
    copies.tensors.push_back("destination");
    elements += Checked(shape.n) * k * product_of(shape, &SpatialAxis::output);
  }
  const auto workspace = (elements * element).value();
  const auto traffic = (elements * element * 2).value();
  if (!workspace || !traffic) return std::nullopt;
  copies.workspace_bytes = *workspace;
  copies.conversion_bytes = *traffic;
  return copies;
}

}  // namespace bench::ops
