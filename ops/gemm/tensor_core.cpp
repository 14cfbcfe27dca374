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

constexpr std::int64_t kTileSide = 8;  // the shortest side of any tensor-core instruction

// A matrix with the size of its rows, which is its leading dimension.
struct Rows {
  std::string_view tensor;
  std::string_view name;  // name of the size
  std::int64_t size;
};

std::array<Rows, 3> operand_rows(const GemmShape& shape) {
  const bool a_plain = shape.a == Storage::plain;
  const bool b_plain = shape.b == Storage::plain;
  return {{{"source", a_plain ? "k" : "m", a_plain ? shape.k : shape.m},
           {"weights", b_plain ? "n" : "k", b_plain ? shape.n : shape.k},
           {"destination", "n", shape.n}}};
}

std::int64_t element_bytes(const Problem& problem, std::string_view tensor) {
  const auto found =
      std::find_if(problem.tensors.begin(), problem.tensors.end(),
                   [&](const Tensor& candidate) { return candidate.name == tensor; });
  return found == problem.tensors.end() ? info(problem.dtype).bytes : info(found->dtype).bytes;
}

// The worst row alignment decides; batches start at multiples of rows.
void set_gemm_alignment(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  std::optional<RowAlignment> worst;
  for (const Rows& rows : operand_rows(shape)) {
    const std::int64_t element = element_bytes(problem, rows.tensor);
    // Only the remainder modulo a line matters; the full product might overflow.
    const std::int64_t bytes = rows.size % kTensorCoreLine * element;
    const RowAlignment alignment = row_alignment(bytes);
    if (worst && alignment >= *worst) continue;
    worst = alignment;
    tensor_core_detail(result, TensorCorePart::alignment_grade) =
        fmt::format("{}: rows of {} = {} x {} B", rows.tensor, rows.name, rows.size, element);
  }
  result.facts.alignment = *worst;
}

// Libraries that require multiples require them of all three sizes; others only of the row sizes.
void check_gemm_multiples(const Problem& problem, const GemmShape& shape, ProblemFacts& result) {
  const auto rows = operand_rows(shape);
  const Rows all[] = {{"", "m", shape.m}, {"", "n", shape.n}, {"", "k", shape.k}};
  for (const Rows& size : all) {
    const bool is_row = std::any_of(rows.begin(), rows.end(),
                                    [&](const Rows& row) { return row.name == size.name; });
    if (is_row || result.facts.generation == LibraryGeneration::cuda10) {
      check_tensor_core_multiple(result, size.name, size.size, info(problem.dtype).bytes);
    }
  }
  if (!result.unaligned.empty()) result.facts.size_alignment = SizeAlignment::unaligned;
}

ProductSize gemm_size(const GemmShape& shape, Operand operand) {
  const bool is_int8 = operand == Operand::s8 || operand == Operand::u8;
  if (is_int8 && (shape.n % 4 != 0 || shape.k % 4 != 0)) return ProductSize::uneven;
  if (shape.m == 1 || shape.n == 1) return ProductSize::vector;
  if (shape.k == 1) return ProductSize::rank_one;
  return std::min(shape.m, shape.n) < kTileSide ? ProductSize::small : ProductSize::regular;
}

}  // namespace

ProblemFacts gemm_facts(const Problem& problem, const Platform& platform) {
  const GemmShape shape = gemm_shape(problem.parameters);
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::cublas);
  TensorCoreFacts& facts = result.facts;
  const bool along_k = shape.a == Storage::plain && shape.b == Storage::transposed;
  facts.layout = along_k ? OperandLayout::k_contiguous : OperandLayout::transposed;
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
