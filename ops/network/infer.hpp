// SPDX-License-Identifier: Apache-2.0
// Infers sizes that a network definition does not contain from a layer's inputs.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <span>

namespace bench::ops {

// Returns `written`, completed with inferred parameters:
//   conv, pool, batch_norm: n, c, d, h, w
//   pointwise, softmax, reorder: shape, a, b
//   gemm: m and k. An input of more than two dimensions is flattened after the batch. Weights are
//   stored n x k as in frameworks, unless trans_b is given.
// Errors, with `where` the parameter or "inputs": wrong number of inputs, no spatial dimensions, a
// written size that contradicts the input.
Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs);

}  // namespace bench::ops
