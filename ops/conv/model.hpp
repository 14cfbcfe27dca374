// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/conv/conv.hpp"

#include <vector>

namespace bench::ops {

// The formula lines of `explain`: output sizes, valid taps, MACs, FLOPs with and without padding
// taps. `work` holds their results.
std::vector<Formula> conv_formulas(const ConvShape& shape, Direction direction,
                                   const std::vector<AxisCounts>& counts, const Work& work);

}  // namespace bench::ops
