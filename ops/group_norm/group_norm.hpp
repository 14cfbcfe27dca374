// SPDX-License-Identifier: Apache-2.0
// Named functions of the operator group_norm.
#pragma once

#include "ops/normalisation.hpp"
#include "ops/problem.hpp"

namespace bench::ops {

// Returns which elements share a value of scale and shift: those of a channel.
NormParameterLayout group_norm_layout(const Problem& group_norm);

}  // namespace bench::ops
