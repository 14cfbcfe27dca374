// SPDX-License-Identifier: Apache-2.0
// An artificial slowdown of a worker, to test whether a gate detects it.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Parses a slowdown such as "3%" or "0.03", from 0 (none) to 1 (twice the time). The error names
// the environment variable.
Result<double> parse_slowdown(std::string_view text);

// Checks whether workers will accept the value of the environment variable; nullopt means that it
// is not set. Call this before starting any worker.
Status check_slowdown(const std::optional<std::string>& value);

}  // namespace bench
