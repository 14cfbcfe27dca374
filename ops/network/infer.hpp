// SPDX-License-Identifier: Apache-2.0
// What follows from a layer's inputs: the sizes that a network definition does not write.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <span>

namespace bench::ops {

// `written` completed with n, c, d, h, w (conv, pool, batch_norm), shape, a, b (pointwise, softmax,
// reorder), m and k of gemm (an input of more than two dimensions is flattened behind the batch;
// weights are stored n x k as frameworks do, unless trans_b says otherwise). Errors, with `where`
// the parameter or "inputs": another number of inputs, no spatial dimensions, a written size that
// contradicts the input.
Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs);

}  // namespace bench::ops
