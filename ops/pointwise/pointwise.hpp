// SPDX-License-Identifier: Apache-2.0
// The operator pointwise: y = f(x), y = f(a, b) with broadcast, and dx = f'(x)*dy for unary f.
// Tensors: source -> destination; a, b -> destination; source, diff_destination -> diff_source.
#pragma once

#include "ops/operator.hpp"
#include "ops/pointwise/functions.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench::ops {

// Returns alpha and beta of complete parameters: the values that are set, else the function's
// defaults.
PointwiseCoefficients pointwise_coefficients(const ParameterSet& complete);

// Broadcasts two shapes as NumPy does: aligned at the last dimension, and a 1 is stretched. Returns
// nullopt if they do not fit.
std::optional<Dims> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

std::vector<double> pointwise_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions);

}  // namespace bench::ops
