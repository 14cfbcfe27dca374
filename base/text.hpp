// SPDX-License-Identifier: Apache-2.0
// Formatting and parsing of quantities and counts, and small text helpers. No other code formats
// quantities.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace bench {

inline constexpr std::string_view kUnknown = "n/a";

// Formats a time with four significant digits and a unit: "501.8 us", "1.234 s", "17 ns".
std::string format_time(Nanoseconds time);
// Formats a count: "231.2 M", "4.089 G" (powers of 1000); exact below 10,000.
std::string format_count(std::int64_t count);
// Formats a size in binary units: "1.672 MiB".
std::string format_bytes(Bytes bytes);
// Formats a rate: "460.8 GFLOP/s", "3.494 GB/s" (powers of 1000).
std::string format_rate(FlopsPerSecond rate);
std::string format_rate(BytesPerSecond rate);
// Formats a value for tables of profiles. format_decimal() uses powers of 1000: "747.35 GFLOP/s",
// "1.8625 TFLOP/s". format_binary() uses powers of 1024: "21.76 GiB/s". The text has two decimals,
// or four below 10. Whole numbers without a prefix have no decimals.
std::string format_decimal(double value, std::string_view unit);
std::string format_binary(double value, std::string_view unit);
// Formats a value with four significant digits and without a unit, for columns with the unit in the
// heading: "460.8", "0.01234".
std::string format_significant(double value);
// Formats the value with `format`, or nullopt as "n/a".
template <class T, class Format>
std::string format_or_unknown(const std::optional<T>& value, Format format) {
  return value ? format(*value) : std::string(kUnknown);
}

// Parses a duration: "100ms", "2s", "1.5 s", "1e-4s", "3m", "1h", "250us", "80ns". A number without
// a unit is an error.
Result<Nanoseconds> parse_duration(std::string_view text);
// Parses a percentage: "2%" gives 0.02. A number without % is an error.
Result<double> parse_percentage(std::string_view text);

// Parses a rate: "900GB/s", "1.5 TB/s", "800GiB/s"; "10TFLOP/s", "10 TFLOPS". G is 10^9 and Gi is
// 2^30. Zero is an error.
Result<BytesPerSecond> parse_bandwidth(std::string_view text);
Result<FlopsPerSecond> parse_flop_rate(std::string_view text);

// Returns the number of terminal columns of UTF-8 text. Each code point counts as one column,
// because this program produces no wide characters.
std::size_t display_width(std::string_view utf8);
// Returns the first `columns` columns of a text, or all of it.
std::string_view leading_columns(std::string_view utf8, std::size_t columns);
// Shortens a text to at most `width` columns, with "..." in the middle.
std::string shorten(std::string_view utf8, std::size_t width);
// Shortens the same way, with `head` columns before the "...", or as many as fit into `width`.
std::string shorten(std::string_view utf8, std::size_t width, std::size_t head);

// Returns FNV-1a (64 bit) as 16 lower-case hex digits: a stable name for content. Not a
// cryptographic hash.
std::string content_hash(std::string_view bytes);

// Counts with a noun in the right number.

// Returns the plural of a regular English noun, or of the last word of several: "processes",
// "activities", "more notes".
std::string plural_of(std::string_view noun);

// Returns "1 process", "3 processes", "0 activities".
template <std::integral Count>
std::string pluralise(Count count, std::string_view noun) {
  return std::to_string(count) + ' ' + (count == 1 ? std::string(noun) : plural_of(noun));
}

// Returns the count with words that agree with it: pluralise(1, "case has", "cases have") is "1
// case has". For nouns with other words behind them.
template <std::integral Count>
std::string pluralise(Count count, std::string_view one, std::string_view several) {
  return (std::to_string(count) + ' ').append(count == 1 ? one : several);
}

// Returns the noun behind its indefinite article: "a gemm", "an attention".
std::string with_article(std::string_view noun);

// Formats a count that is not negative with commas: "1,000,000".
std::string format_with_commas(std::int64_t count);

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

// Computes content_hash() (base/text.hpp) of the concatenation of all parts.
class ContentHash {
 public:
  void add(std::string_view bytes);
  std::string text() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace bench
