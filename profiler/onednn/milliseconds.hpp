// SPDX-License-Identifier: Apache-2.0
// The times of oneDNN's verbose lines.
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

}  // namespace bench
