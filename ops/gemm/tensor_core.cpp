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
  std::string_view name;  // name of the size
  std::int64_t size;
};

std::array<RowSize, 3> operand_rows(const GemmShape& shape) {
  const bool is_a_plain = shape.a == Storage::plain;
  const bool is_b_plain = shape.b == Storage::plain;
  return {{{"source", is_a_plain ? "k" : "m", is_a_plain ? shape.k : shape.m},
           {"weights", is_b_plain ? "n" : "k", is_b_plain ? shape.n : shape.k},
           {"destination", "n", shape.n}}};
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
  for (const RowSize& rows : operand_rows(shape)) {
    const std::int64_t element_size = element_bytes(problem, rows.tensor);
    // Only the remainder modulo a line matters; the full product might overflow.
    const std::int64_t bytes = rows.size % kTensorCoreLine * element_size;
    const RowAlignment alignment = row_alignment(bytes);
    if (worst && alignment >= *worst) continue;
    worst = alignment;
    tensor_core_detail(result, TensorCorePart::alignment_grade) =
        fmt::format("{}: rows of {} = {} x {} B", rows.tensor, rows.name, rows.size, element_size);
  }
  result.facts.alignment = *worst;
}

// Libraries of generation cuda10 require multiples of 16 bytes for m, n and k. For later libraries,
// only the alignment of rows matters, so only the sizes of rows are checked.
void check_gemm_multiples(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  const auto rows = operand_rows(shape);
  const RowSize sizes[] = {{"", "m", shape.m}, {"", "n", shape.n}, {"", "k", shape.k}};
  for (const RowSize& size : sizes) {
    const bool is_row = std::any_of(rows.begin(), rows.end(),
                                    [&](const RowSize& row) { return row.name == size.name; });
    if (is_row || result.facts.generation == LibraryGeneration::cuda10) {
      check_tensor_core_multiple(result, size.name, size.size, info(problem.dtype).bytes);
    }
  }
  if (!result.unaligned.empty()) result.facts.size_alignment = SizeAlignment::unaligned;
}

ProductSize gemm_size(const GemmShape& shape, Operand operand) {
  const bool is_int8 = operand == Operand::s8 || operand == Operand::u8;
  if (is_int8 && (shape.n % 4 != 0 || shape.k % 4 != 0)) return ProductSize::uneven;
  if (shape.n == 1) return ProductSize::vector;
  if (shape.m == 1) return ProductSize::one_row;
  if (shape.k == 1) return ProductSize::rank_one;
  return std::min(shape.m, shape.n) < kMinTileSide ? ProductSize::small : ProductSize::regular;
}

}  // namespace

ProblemFacts gemm_facts(const Problem& problem, const Platform& platform) {
  const GemmShape shape = gemm_shape(problem.parameters);
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cublas);
  TensorCoreFacts& facts = result.facts;
  const bool is_k_contiguous = shape.a == Storage::plain && shape.b == Storage::transposed;
  facts.layout = is_k_contiguous ? OperandLayout::k_contiguous : OperandLayout::transposed;
  tensor_core_detail(result, TensorCorePart::layout_ok) = fmt::format(
      "trans_a: {}, trans_b: {}", shape.a == Storage::transposed, shape.b == Storage::transposed);
  set_gemm_alignment(problem, shape, result);
  check_gemm_multiples(problem, shape, result);
  facts.size = gemm_size(shape, facts.operand);
  tensor_core_detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("m = {}, n = {}, k = {}", shape.m, shape.n, shape.k);
  return result;
}

}  // namespace bench::ops
