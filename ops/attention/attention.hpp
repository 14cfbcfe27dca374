// SPDX-License-Identifier: Apache-2.0
// Named functions of the operator attention.
#pragma once

#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

// Implements Operator::reference.
std::vector<double> attention_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions);
Tolerance attention_tolerance(const Problem& problem);

}  // namespace bench::ops
