// SPDX-License-Identifier: Apache-2.0
// Formats and parses numbers inside case ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

// Returns the shortest text that reads back as the same double. Omits the '+' of an exponent, since
// '+' separates the post-ops of an id: "0.01", "1e-05", "1e30".
std::string format_real(double value);

// Reads a number at the beginning of `text` and removes it from `text`. Returns nullopt and leaves
// `text` unchanged if there is none or it is out of range (reals must be finite).
std::optional<double> read_real(std::string_view& text);
std::optional<std::int64_t> read_integer(std::string_view& text);

}  // namespace bench::ops
