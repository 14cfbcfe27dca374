// SPDX-License-Identifier: Apache-2.0
// What the reference and the native kernel of pad share.
#pragma once

#include "ops/slice/slice.hpp"

namespace bench::ops {

// Where the source is in the lines of the destination.
SliceRange padded_range(const Problem& pad);

}  // namespace bench::ops
