// SPDX-License-Identifier: Apache-2.0
// Named functions of the operator instance_norm.
#pragma once

#include "ops/normalisation.hpp"
#include "ops/problem.hpp"

namespace bench::ops {

// Returns which elements share a value of scale and shift: those of a channel.
NormParameterLayout instance_norm_layout(const Problem& instance_norm);

}  // namespace bench::ops
