// SPDX-License-Identifier: Apache-2.0
// Decimal milliseconds, as oneDNN prints them, as exact nanoseconds.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string_view>

namespace bench {

// "20.7539" -> 20,753,900 ns, "1e-05" -> 10 ns; digits below a nanosecond are rounded. Absent for
// what is no finite number >= 0, or more than 73 years: sums of two stay in range.
std::optional<Nanoseconds> parse_milliseconds(std::string_view text);

}  // namespace bench
