// SPDX-License-Identifier: Apache-2.0
// The kernel of a problem that consists of several problems of the library.
#pragma once

#include "ops/backend/grouped_parts.hpp"
#include "ops/backend/kernel.hpp"

#include <memory>

namespace bench::ops {

std::unique_ptr<Kernel> make_parts_kernel(GroupedParts parts);

}  // namespace bench::ops
