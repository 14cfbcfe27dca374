// SPDX-License-Identifier: Apache-2.0
// Infers sizes that a network definition does not contain from a layer's inputs.
#pragma once

#include "base/result.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <span>

namespace bench::ops {

// Returns `written`, completed with the parameters that Operator::inference infers.
// Errors, with `where` the parameter or "inputs": wrong number of inputs, no spatial dimensions, a
// written size that contradicts the input.
Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs);

}  // namespace bench::ops
