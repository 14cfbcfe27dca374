// SPDX-License-Identifier: Apache-2.0
// Parsing of a text that consists of one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace bench {

// Parses the complete text. Returns nullopt if it is not a number, contains anything else, or if
// the number does not fit. The rules are those of std::from_chars: no blanks, no plus sign, no
// locale.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace bench
