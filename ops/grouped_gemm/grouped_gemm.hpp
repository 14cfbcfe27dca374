// SPDX-License-Identifier: Apache-2.0
// Grouped matrix product, as a mixture of experts needs it: the rows of the source belong to
// groups, and each group has weights of its own. With `first` the sum of the sizes of earlier
// groups:
//   destination[first + i][n] = sum over k of source[first + i][k] * weights[g][k][n] (+
//   bias[g][n])
// Order of Model::tensors: source, weights, [bias,] destination.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <vector>

namespace bench::ops {

extern const Operator grouped_gemm_operator;

// Returns the products of the groups, in order. Their tensors, one after the other, are those of
// the problem.
std::vector<Problem> group_products(const Problem& problem);

}  // namespace bench::ops
