// SPDX-License-Identifier: Apache-2.0
// The operator softmax: y = exp(x - max)/sum(exp(x - max)) along one axis, or its logarithm, source
// -> destination. backward_data: destination, diff_destination -> diff_source, with dx = y*(dy -
// sum(y*dy)), or for the logarithm dx = dy - exp(y)*sum(dy).
#pragma once

#include "ops/operator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

std::vector<double> softmax_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
