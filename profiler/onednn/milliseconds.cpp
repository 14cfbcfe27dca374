// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/milliseconds.hpp"

#include "base/characters.hpp"

#include <cstdint>
#include <limits>

namespace bench {
namespace {

struct Decimal {
  std::int64_t value = 0;
  std::int64_t exponent = 0;  // power of ten
};

constexpr std::int64_t kMaxMantissa = std::numeric_limits<std::int64_t>::max() / 10 - 1;

// Removes a mantissa such as "20.7539" or "20,7539" from the front of `text` and returns it.
std::optional<Decimal> cut_mantissa(std::string_view& text) {
  Decimal decimal;
  bool has_point = false;
  bool has_digits = false;
  const auto is_point = [](char c) { return c == '.' || c == ','; };
  while (!text.empty() && (is_digit(text.front()) || (is_point(text.front()) && !has_point))) {
    const char c = text.front();
    text.remove_prefix(1);
    if (is_point(c)) {
      has_point = true;
      continue;
    }
    has_digits = true;
    // Digits that a 64-bit count of nanoseconds cannot hold are below its unit.
    if (has_point && decimal.value > kMaxMantissa) continue;
    if (has_point) --decimal.exponent;
    if (__builtin_mul_overflow(decimal.value, std::int64_t{10}, &decimal.value) ||
        __builtin_add_overflow(decimal.value, std::int64_t{c - '0'}, &decimal.value)) {
      return std::nullopt;
    }
  }
  return has_digits ? std::optional(decimal) : std::nullopt;
}

// Parses "e-05" up to the end of the text.
std::optional<std::int64_t> parse_exponent(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  constexpr std::size_t kMaxDigits = 3;
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  std::int64_t magnitude = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    magnitude = 10 * magnitude + (c - '0');
  }
  return is_negative ? -magnitude : magnitude;
}

// Rounds to the nearest integer. Returns nullopt if the result is out of range.
std::optional<std::int64_t> round_to_integer(Decimal decimal) {
  if (decimal.value == 0) return 0;
  for (; decimal.exponent > 0; --decimal.exponent) {
    if (__builtin_mul_overflow(decimal.value, std::int64_t{10}, &decimal.value)) {
      return std::nullopt;
    }
  }
  std::int64_t divisor = 1;
  for (; decimal.exponent < 0; ++decimal.exponent) {
    if (__builtin_mul_overflow(divisor, std::int64_t{10}, &divisor)) return 0;
  }
  const std::int64_t remainder = decimal.value % divisor;
  return decimal.value / divisor + (remainder >= divisor - remainder ? 1 : 0);
}

// `unit`: the power of ten of nanoseconds that the text counts.
std::optional<Nanoseconds> parse_decimal_time(std::string_view text, std::int64_t unit) {
  std::optional<Decimal> decimal = cut_mantissa(text);
  const std::optional<std::int64_t> exponent = parse_exponent(text);
  if (!decimal || !exponent) return std::nullopt;
  decimal->exponent += *exponent + unit;
  const std::optional<std::int64_t> count = round_to_integer(*decimal);
  constexpr std::int64_t kMaxNanoseconds = (std::int64_t{1} << 61) - 2;  // 73 years
  if (!count || *count > kMaxNanoseconds) return std::nullopt;
  return Nanoseconds(*count);
}

}  // namespace

std::optional<Nanoseconds> parse_milliseconds(std::string_view text) {
  constexpr std::int64_t kMillisecond = 6;
  return parse_decimal_time(text, kMillisecond);
}

std::optional<Nanoseconds> parse_decimal_microseconds(std::string_view text) {
  constexpr std::int64_t kMicrosecond = 3;
  return parse_decimal_time(text, kMicrosecond);
}

}  // namespace bench
