// SPDX-License-Identifier: Apache-2.0
// What the reference and the native kernel of dropout share.
#pragma once

#include "ops/parameter.hpp"

#include <cstdint>

namespace bench::ops {

// An element stays if its random number of 32 bits is at least `threshold`.
struct DropoutLimits {
  std::uint32_t threshold, seed;
};
DropoutLimits dropout_limits(const ParameterSet& complete);

}  // namespace bench::ops
