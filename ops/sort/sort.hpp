// SPDX-License-Identifier: Apache-2.0
// What the reference and the native kernel of sort share.
#pragma once

#include "ops/parameter.hpp"

#include <cstdint>

namespace bench::ops {

std::int64_t kept_per_line(const ParameterSet& complete);
bool sorts_ascending(const ParameterSet& complete);

}  // namespace bench::ops
