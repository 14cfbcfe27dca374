// SPDX-License-Identifier: Apache-2.0
// The facts about a matrix product that the rules about tensor cores evaluate.
#include "ops/gemm/gemm.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace bench::ops {
namespace {

constexpr std::int64_t kMinTileSide = 8;  // the smallest m or n of any tensor-core instruction

// A matrix with the size of its rows, which is its leading dimension.
struct RowSize {
  std::string_view tensor;
  GemmSize size;
};

std::array<RowSize, 3> operand_rows(const Problem& problem, const GemmShape& shape) {
  const auto name = [&](std::size_t tensor) -> std::string_view {
    return problem.tensors[tensor].name;
  };
  const bool is_left_plain = shape.left.storage == Storage::plain;
  const bool is_right_plain = shape.right.storage == Storage::plain;
  return {{{name(shape.left.tensor), is_left_plain ? shape.inner : shape.rows},
           {name(shape.right.tensor), is_right_plain ? shape.columns : shape.inner},
           {name(shape.result), shape.columns}}};
}

std::int64_t element_bytes(const Problem& problem, std::string_view tensor) {
  const auto match =
      std::find_if(problem.tensors.begin(), problem.tensors.end(),
                   [&](const Tensor& candidate) { return candidate.name == tensor; });
  return match == problem.tensors.end() ? info(problem.dtype).bytes : info(match->dtype).bytes;
}

// Sets the worst alignment of any operand's rows. Each matrix of a batch begins at a multiple of
// its rows, so a batch does not change the alignment.
void set_gemm_alignment(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  std::optional<RowAlignment> worst;
  for (const RowSize& rows : operand_rows(problem, shape)) {
    const std::int64_t element_size = element_bytes(problem, rows.tensor);
    // Only the remainder modulo a line matters; the full product might overflow.
    const std::int64_t bytes = rows.size.count % kTensorCoreLine * element_size;
    const RowAlignment alignment = row_alignment(bytes);
    if (worst && alignment >= *worst) continue;
    worst = alignment;
    tensor_core_detail(result, TensorCorePart::alignment_grade) =
        fmt::format("{}: rows of {} = {} x {} B", rows.tensor, rows.size.parameter, rows.size.count,
                    element_size);
  }
  result.facts.alignment = *worst;
}

// Libraries of generation cuda10 require multiples of 16 bytes for m, n and k. For later libraries,
// only the alignment of rows matters, so only the sizes of rows are checked.
void check_gemm_multiples(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  const auto rows = operand_rows(problem, shape);
  for (const GemmSize& size : {shape.rows, shape.columns, shape.inner}) {
    const bool is_row = std::any_of(rows.begin(), rows.end(), [&](const RowSize& row) {
      return row.size.parameter == size.parameter;
    });
    if (is_row || result.facts.generation == LibraryGeneration::cuda10) {
      check_tensor_core_multiple(result, size.parameter, size.count, info(problem.dtype).bytes);
    }
  }
  if (!result.unaligned.empty()) result.facts.size_alignment = SizeAlignment::unaligned;
}

ProductSize gemm_size(const GemmShape& shape, Operand operand) {
  const std::int64_t m = shape.rows.count;
  const std::int64_t n = shape.columns.count;
  const std::int64_t k = shape.inner.count;
  const bool is_int8 = operand == Operand::s8 || operand == Operand::u8;
  if (is_int8 && (n % 4 != 0 || k % 4 != 0)) return ProductSize::uneven;
  if (n == 1) return ProductSize::vector;
  if (m == 1) return ProductSize::one_row;
  if (k == 1) return ProductSize::rank_one;
  return std::min(m, n) < kMinTileSide ? ProductSize::small : ProductSize::regular;
}

}  // namespace

ProblemFacts gemm_facts(const Problem& problem, const Platform& platform) {
  const GemmShape shape = gemm_shape(problem);
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cublas);
  TensorCoreFacts& facts = result.facts;
  const bool is_k_contiguous =
      shape.left.storage == Storage::plain && shape.right.storage == Storage::transposed;
  facts.layout = is_k_contiguous ? OperandLayout::k_contiguous : OperandLayout::transposed;
  const ParameterSet& parameters = problem.parameters;
  tensor_core_detail(result, TensorCorePart::layout_ok) = fmt::format(
      "trans_a: {}, trans_b: {}", parameters.flag("trans_a"), parameters.flag("trans_b"));
  set_gemm_alignment(problem, shape, result);
  check_gemm_multiples(problem, shape, result);
  facts.size = gemm_size(shape, facts.operand);
  tensor_core_detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("m = {}, n = {}, k = {}", parameters.count("m"), parameters.count("n"),
                  parameters.count("k"));
  return result;
}

}  // namespace bench::ops
