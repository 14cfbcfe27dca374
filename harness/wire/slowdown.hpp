// SPDX-License-Identifier: Apache-2.0
// A slowdown put into a worker on purpose, to see whether a gate finds it.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// "3%" or "0.03": from 0 (none) to 1 (twice the time). The error names the variable.
Result<double> parse_slowdown(std::string_view text);

// Whether workers will take the value of the variable; nullopt: it is not set. To be asked before
// any is started.
Status check_slowdown(const std::optional<std::string>& value);

}  // namespace bench
