// SPDX-License-Identifier: Apache-2.0
// The facts about attention that the rules about tensor cores evaluate.
#include "ops/attention/attention.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>

namespace bench::ops {
namespace {

ProductSize attention_size(const Problem& problem) {
  if (find_unmatched_attention(problem)) return ProductSize::unmatched;
  const std::int64_t size = problem.parameters.count("head_dim");
  if (problem.direction == Direction::forward || size <= kMaxGradientHead)
    return ProductSize::regular;
  return size > kMaxGradientHeadOnHopper ? ProductSize::huge_heads : ProductSize::large_heads;
}

}  // namespace

ProblemFacts attention_facts(const Problem& problem, const Platform& platform) {
  ProblemFacts result = common_facts(problem, platform, TensorCoreLibrary::attention);
  TensorCoreFacts& facts = result.facts;
  const std::int64_t size = problem.parameters.count("head_dim");
  const std::int64_t element = info(problem.dtype).bytes;
  const bool is_nhwc = problem.layout == Layout::nhwc;
  facts.layout = is_nhwc ? OperandLayout::nhwc : OperandLayout::nchw;
  tensor_core_detail(result, TensorCorePart::layout_ok) = is_nhwc ? "nhwc" : "plain";
  facts.alignment = row_alignment(size * element);
  tensor_core_detail(result, TensorCorePart::alignment_grade) = fmt::format("head_dim = {}", size);
  check_tensor_core_multiple(result, "head_dim", size, element);
  if (!result.unaligned.empty()) facts.size_alignment = SizeAlignment::unaligned;
  facts.size = attention_size(problem);
  tensor_core_detail(result, TensorCorePart::min_dims_ok) =
      fmt::format("q_len = {}, kv_len = {}, head_dim = {}", problem.parameters.count("q_len"),
                  problem.parameters.count("kv_len"), size);
  return result;
}

}  // namespace bench::ops
