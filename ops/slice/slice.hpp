// SPDX-License-Identifier: Apache-2.0
// What the reference and the native kernel of slice share.
#pragma once

#include "ops/problem.hpp"

#include <cstdint>

namespace bench::ops {

// The range in memory: a tensor consists of lines, and the range of each line is contiguous.
struct SliceRange {
  std::int64_t line, begin, run;  // elements: of a line, before the range, of the range
};
SliceRange slice_range(const Problem& slice);

}  // namespace bench::ops
