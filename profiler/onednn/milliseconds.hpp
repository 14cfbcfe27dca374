// SPDX-License-Identifier: Apache-2.0
// Decimal times: the milliseconds of oneDNN's verbose lines, the microseconds of traces.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string_view>

namespace bench {

// Converts decimal milliseconds, as oneDNN prints them, into exact nanoseconds: "20.7539" ->
// 20,753,900 ns, "1e-05" -> 10 ns. The point may be a comma, as some locales print it. Digits below
// a nanosecond are rounded. Returns nullopt unless the text is a finite number >= 0 and at most 73
// years, so that sums of two stay in range.
std::optional<Nanoseconds> parse_milliseconds(std::string_view text);
// The same for microseconds: "1666382280874284.123" -> 1,666,382,280,874,284,123 ns.
std::optional<Nanoseconds> parse_decimal_microseconds(std::string_view text);

}  // namespace bench
