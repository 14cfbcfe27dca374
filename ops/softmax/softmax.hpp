// SPDX-License-Identifier: Apache-2.0
// The operator softmax: y = exp(x - max)/sum(exp(x - max)) along one axis, source -> destination.
#pragma once

#include "ops/operator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

std::vector<double> softmax_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
