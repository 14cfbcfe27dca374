// SPDX-License-Identifier: Apache-2.0
// Named functions of the operator attention.
#pragma once

#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
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

// Implement Operator::reference, forward and backward_data.
std::vector<double> attention_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions);
std::vector<double> attention_gradient_reference(const Problem& problem, ReferenceInputs inputs,
                                                 std::size_t output,
                                                 std::span<const std::int64_t> positions);
Tolerance attention_tolerance(const Problem& problem);

}  // namespace bench::ops
