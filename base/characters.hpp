// SPDX-License-Identifier: Apache-2.0
// Helpers for characters and fields of machine-written text. ASCII only, independent of the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
// Returns whether `c` may be part of an identifier: a letter, a digit or an underscore.
constexpr bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

// Converts an upper-case letter to lower case; returns any other character unchanged.
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = to_lower(c);
  return result;
}

// Returns the part of `text` before the first separator, and leaves in `text` the part after it.
// If there is no separator, returns all of `text` and leaves an empty text.
constexpr std::string_view cut_field(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return field;
}

}  // namespace bench
