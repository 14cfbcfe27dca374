// SPDX-License-Identifier: Apache-2.0
// Converts decimal milliseconds, as oneDNN prints them, into exact nanoseconds.
#pragma once

#include "base/units.hpp"

#include <optional>
#include <string_view>

namespace bench {

// "20.7539" -> 20,753,900 ns, "1e-05" -> 10 ns. Digits below a nanosecond are rounded. Returns
// nullopt unless the text is a finite number >= 0 and at most 73 years, so that sums of two stay in
// range.
std::optional<Nanoseconds> parse_milliseconds(std::string_view text);

}  // namespace bench
