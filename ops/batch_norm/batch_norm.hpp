// SPDX-License-Identifier: Apache-2.0
// The operator batch_norm in inference, per channel:
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Tensors: source, mean, variance, scale, shift -> destination. The statistics and coefficients are
// f32 (f64 for f64), as libraries keep them.
#pragma once

#include "ops/operator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

std::vector<double> batch_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t output,
                                         std::span<const std::int64_t> positions);

}  // namespace bench::ops
