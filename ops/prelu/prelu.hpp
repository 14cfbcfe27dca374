// SPDX-License-Identifier: Apache-2.0
// Which slope belongs to which element of a prelu.
#pragma once

#include "ops/problem.hpp"

#include <cstddef>

namespace bench::ops {

// `inner` neighbours share a slope, and the slopes repeat after `count` of them.
struct PreluSlopes {
  std::size_t count = 1, inner = 1;

  std::size_t of(std::size_t element) const { return element / inner % count; }
};
PreluSlopes prelu_slopes(const Problem& prelu);

}  // namespace bench::ops
