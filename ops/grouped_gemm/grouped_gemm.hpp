// SPDX-License-Identifier: Apache-2.0
// Grouped matrix product, as a mixture of experts needs it: the rows of the source belong to
// groups, and each group has weights of its own. With `first` the sum of the sizes of earlier
// groups:
//   destination[first + i][n] = sum over k of source[first + i][k] * weights[g][k][n] (+
//   bias[g][n])
// and its gradients, which are those of the products of the groups. Order of Model::tensors: that
// of gemm (ops/gemm/gemm.hpp).
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <vector>

namespace bench::ops {

extern const Operator grouped_gemm_operator;

// Returns the products of the groups, in order and in the problem's direction. Their tensors, one
// after the other, are those of the problem, and have the same roles.
std::vector<Problem> group_products(const Problem& problem);

}  // namespace bench::ops
