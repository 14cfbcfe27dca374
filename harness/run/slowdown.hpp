// SPDX-License-Identifier: Apache-2.0
// A slowdown put into a worker on purpose, to see whether a gate finds it.
#pragma once

#include "base/result.hpp"

#include <string_view>

namespace bench {

// "3%" or "0.03": from 0 (none) to 1 (twice the time). The error names the variable.
Result<double> parse_slowdown(std::string_view text);

}  // namespace bench
