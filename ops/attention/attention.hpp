// SPDX-License-Identifier: Apache-2.0
// Named functions of the operator attention.
#pragma once

#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench::ops {

// One query, with the keys that it attends to.
struct AttentionQuery {
  std::size_t query;                // position of its first element
  std::size_t keys;                 // position of the first element of key 0
  std::int64_t first_key, end_key;  // none if they are equal
};
// `row`: the number of a query among those of all sequences and heads.
AttentionQuery find_attention_query(const ParameterSet& set, std::int64_t row);

// Returns the number of keys of the query that attends to the fewest; at most 0 if there is a query
// without keys.
std::int64_t fewest_attention_keys(const ParameterSet& set);

// cuDNN's gradients of attention have limits of `head_dim`: the first one, except for compute
// capability 9.0, which has the second one.
inline constexpr std::int64_t kMaxGradientHead = 128;
inline constexpr std::int64_t kMaxGradientHeadOnHopper = 256;
// Returns why a problem has queries without keys, gradients of keys without queries, or the
// gradients of a single pair, which cuDNN's attention does not compute; nullopt if it has none.
enum class UnmatchedAttention { queries, gradient_keys, gradient_pair };
std::optional<UnmatchedAttention> find_unmatched_attention(const Problem& problem);

// Implements MatrixProduct::facts.
ProblemFacts attention_facts(const Problem& problem, const Platform& platform);

// Implement Operator::reference, forward and backward_data.
std::vector<double> attention_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions);
std::vector<double> attention_gradient_reference(const Problem& problem, ReferenceInputs inputs,
                                                 std::size_t output,
                                                 std::span<const std::int64_t> positions);
Tolerance attention_tolerance(const Problem& problem);

}  // namespace bench::ops
