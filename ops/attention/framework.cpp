// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace bench::ops {
namespace {

using namespace framework;

using Sizes = std::span<const std::int64_t>;

// Where a tensor of four dimensions has heads and positions. PyTorch's function has the heads
// outside, the library FlashAttention the positions.
struct AttentionOrder {
  std::size_t head, position;
};
constexpr AttentionOrder kHeadsOutside = {1, 2};
constexpr AttentionOrder kPositionsOutside = {2, 1};
constexpr std::size_t kAttentionRank = 4;

// Returns nullopt if the operator does not have such tensors: values of a size of their own, or
// sequences one after the other in one tensor.
std::optional<ParameterSet> find_attention(Sizes query, Sizes key, Sizes value,
                                           const AttentionOrder& order) {
  if (query.size() != kAttentionRank || key.size() != kAttentionRank ||
      !std::ranges::equal(key, value) || query.front() != key.front() ||
      query.back() != key.back()) {
    return std::nullopt;
  }
  ParameterSet set = default_parameters("attention");
  set.set("batch", query.front());
  set.set("heads", query[order.head]);
  set.set("kv_heads", key[order.head]);
  set.set("q_len", query[order.position]);
  set.set("kv_len", key[order.position]);
  set.set("head_dim", query.back());
  return set;
}

// The shapes do not state whether the call is causal. All pairs of query and key count.
template <const AttentionOrder& kOrder>
std::optional<Equivalent> attention_by_shapes(const FrameworkCall& call, const FrameworkRow&) {
  auto set =
      find_attention(tensor_shape(call, 0), tensor_shape(call, 1), tensor_shape(call, 2), kOrder);
  return set ? equivalent("attention", *std::move(set)) : std::nullopt;
}

// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal). Of sequences of
// different lengths, it aligns the first query with the first key, which the operator does not.
std::optional<ProblemRequest> attention_by_arguments(const Arguments& arguments,
                                                     const FrameworkRow&) {
  const FrameworkArgument* query = find_argument(arguments, "query", 0);
  const FrameworkArgument* key = find_argument(arguments, "key", 1);
  const FrameworkArgument* value = find_argument(arguments, "value", 2);
  if (query == nullptr || key == nullptr || value == nullptr) return std::nullopt;
  auto set = find_attention(query->shape, key->shape, value->shape, kHeadsOutside);
  const auto causal = argument_flag(arguments, "is_causal", 5, false);
  if (!set || !causal || !is_none(find_argument(arguments, "attn_mask", 3))) return std::nullopt;
  if (*causal && set->count("q_len") != set->count("kv_len")) return std::nullopt;
  set->set("causal", *causal);
  return make_request("attention", *std::move(set));
}

constexpr auto kByHeads = attention_by_shapes<kHeadsOutside>;
constexpr auto kByPositions = attention_by_shapes<kPositionsOutside>;
constexpr std::array kFrameworkRows = {
    FrameworkRow{"scaled_dot_product_attention", kByHeads, attention_by_arguments},
    FrameworkRow{"_scaled_dot_product_flash_attention", kByHeads},
    FrameworkRow{"_scaled_dot_product_flash_attention_for_cpu", kByHeads},
    FrameworkRow{"_scaled_dot_product_efficient_attention", kByHeads},
    FrameworkRow{"_scaled_dot_product_cudnn_attention", kByHeads},
    FrameworkRow{"_flash_attention_forward", kByPositions},
    FrameworkRow{"_efficient_attention_forward", kByPositions},
};

}  // namespace

extern const FrameworkMapping attention_framework;
const FrameworkMapping attention_framework = {.op = "attention", .rows = kFrameworkRows};

}  // namespace bench::ops
