// SPDX-License-Identifier: Apache-2.0
// The only formatting of quantities as text, and small text helpers.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kUnknown = "n/a";

// Four significant digits with a unit: "501.8 us", "1.234 s", "17 ns".
std::string format_time(Nanoseconds time);
// "231.2 M", "4.089 G"; exact below 10,000.
std::string format_count(std::int64_t count);
// Binary units: "1.672 MiB".
std::string format_bytes(Bytes bytes);
// "460.8 GFLOP/s", "3.494 GB/s" (powers of 1000).
std::string format_rate(FlopsPerSecond rate);
std::string format_rate(BytesPerSecond rate);
// For tables of profiles: "747.35 GFLOP/s", "1.8625 TFLOP/s" in powers of 1000; "21.76 GiB/s" in
// powers of 1024 ("KiB", ...). Two decimals, or four below 10. Whole numbers below the first prefix
// have no decimals.
std::string format_decimal(double value, std::string_view unit);
std::string format_binary(double value, std::string_view unit);
// Four significant digits without a unit, for columns with the unit in the heading: "460.8",
// "0.01234".
std::string format_significant(double value);
// Formats nullopt as "n/a".
template <class T, class Format>
std::string format_or_unknown(const std::optional<T>& value, Format format) {
  return value ? format(*value) : std::string(kUnknown);
}

// "100ms", "2s", "1.5 s", "1e-4s", "3m", "1h", "250us", "80ns" -> nanoseconds. A number without a
// unit is an error.
Result<Nanoseconds> parse_duration(std::string_view text);
// "2%" -> 0.02; a number without % is an error.
Result<double> parse_percentage(std::string_view text);

// "900GB/s", "1.5 TB/s", "800GiB/s"; "10TFLOP/s", "10 TFLOPS": G is 10^9, Gi 2^30. Must be above
// zero.
Result<BytesPerSecond> parse_bandwidth(std::string_view text);
Result<FlopsPerSecond> parse_flop_rate(std::string_view text);

// Number of terminal columns of UTF-8 text. Each code point counts as one column, because this
// program produces no wide characters.
std::size_t display_width(std::string_view utf8);
// Returns the first `columns` columns of a text, or all of it.
std::string_view leading_columns(std::string_view utf8, std::size_t columns);
// Shortens to at most `width` columns with "..." in the middle.
std::string shorten(std::string_view utf8, std::size_t width);
// The same with `head` columns before the "...", or as many as fit into `width`.
std::string shorten(std::string_view utf8, std::size_t width, std::size_t head);

// FNV-1a, 64 bit, as 16 lower-case hex digits: a stable name for content, not a protection.
std::string content_hash(std::string_view bytes);

}  // namespace bench
