// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace bench {
namespace {

constexpr std::array<std::string_view, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinaryUnits = {"B",   "KiB", "MiB", "GiB",
                                                          "TiB", "PiB", "EiB"};
constexpr std::string_view kEllipsis = "...";
constexpr std::array<std::string_view, 4> kTimeUnits = {"ns", "us", "ms", "s"};
constexpr int kMaxDecimals = 12;  // of format_significant(): smaller digits are irrelevant

// Returns the number of decimals for four significant digits. To format a value, pass the rounded
// magnitude, because rounding may carry into the next power of ten.
int count_decimals(double magnitude) {
  if (magnitude < 10) return 3;
  if (magnitude < 100) return 2;
  return magnitude < 1000 ? 1 : 0;
}

double round_to_four_digits(double magnitude) {
  const double scale = std::pow(10.0, count_decimals(magnitude));
  return std::round(magnitude * scale) / scale;
}

struct Scaled {
  double magnitude;
  std::size_t unit;
};

// Scales a value to the largest unit in which it is at least 1 after rounding to four digits. There
// are `units` units, each `step` times the previous one. For example, 999.96 us is 1.000 ms, not
// 1000 us.
Scaled scale(double magnitude, double step, std::size_t units) {
  Scaled result{magnitude, 0};
  while (result.unit + 1 < units && round_to_four_digits(result.magnitude) >= step) {
    result.magnitude /= step;
    ++result.unit;
  }
  return result;
}

std::string format_four_digits(double magnitude) {
  return fmt::format("{:.{}f}", magnitude, count_decimals(round_to_four_digits(magnitude)));
}

std::string format_rate_in(double value, std::string_view unit) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  const Scaled scaled = scale(std::abs(value), 1000, kPrefixes.size());
  const std::string digits = scaled.unit == 0 ? format_significant(scaled.magnitude)
                                              : format_four_digits(scaled.magnitude);
  return fmt::format("{}{} {}{}", value < 0 ? "-" : "", digits, kPrefixes[scaled.unit], unit);
}

int count_table_decimals(double magnitude) { return magnitude < 9.99995 ? 4 : 2; }

// `infix` follows a prefix: "i" for binary units.
std::string format_scaled(double value, double step, std::string_view infix,
                          std::string_view unit) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  double magnitude = std::abs(value);
  std::size_t prefix = 0;
  // A value that rounds up to `step` uses the next prefix.
  while (prefix + 1 < kPrefixes.size() && magnitude >= step - 0.005) {
    magnitude /= step;
    ++prefix;
  }
  const bool is_whole = prefix == 0 && std::trunc(magnitude) == magnitude;
  const std::string_view letter = prefix == 1 && step == 1024 ? "K" : kPrefixes[prefix];
  return fmt::format("{}{:.{}f} {}{}{}", value < 0 ? "-" : "", magnitude,
                     is_whole ? 0 : count_table_decimals(magnitude), letter,
                     prefix == 0 ? "" : infix, unit);
}

// Returns the number of bytes of the UTF-8 code point at the start of `text`, or 1 if the sequence
// is malformed.
std::size_t code_point_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  if (lead >= 0xF0 && lead < 0xF8) length = 4;
  if (lead >= 0xE0 && lead < 0xF0) length = 3;
  if (lead >= 0xC0 && lead < 0xE0) length = 2;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return length;
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::size_t find_end_of_digits(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_digit(text[begin])) ++begin;
  return begin;
}

// Returns the end of an exponent of one or two digits that begins at `begin`; `begin` if there is
// none. No quantity needs more digits. A longer exponent such as "1e-400" does not count as one, so
// the caller reports an error.
std::size_t find_end_of_exponent(std::string_view text, std::size_t begin) {
  if (begin >= text.size() || (text[begin] != 'e' && text[begin] != 'E')) return begin;
  std::size_t digits = begin + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  const std::size_t end = find_end_of_digits(text, digits);
  return end == digits || end > digits + 2 ? begin : end;
}

// Returns the number at the start of the text, such as "1.5" for "1.5 s": digits, optionally with a
// point and more digits. Returns an empty text if there is none.
std::string_view leading_number(std::string_view text) {
  std::size_t end = find_end_of_digits(text, 0);
  if (end == 0) return {};
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    end = find_end_of_digits(text, end + 1);
  }
  return text.substr(0, end);
}

// Returns leading_number() including an optional exponent: "1e-4" for "1e-4s".
std::string_view leading_scientific_number(std::string_view text) {
  const std::size_t end = leading_number(text).size();
  return text.substr(0, end == 0 ? 0 : find_end_of_exponent(text, end));
}

// Returns the same number without its exponent: "0.00015" for "1.5e-4".
std::string expand_exponent(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  if (mark == std::string_view::npos) return std::string(number);
  std::string_view exponent_text = number.substr(mark + 1);
  if (exponent_text.front() == '+') exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const std::string_view mantissa = number.substr(0, mark);
  std::string digits(mantissa);
  std::erase(digits, '.');
  const auto whole = static_cast<int>(std::min(mantissa.find('.'), mantissa.size()));
  const int point = whole + exponent;  // number of digits before the decimal point
  if (point < 1) digits.insert(0, static_cast<std::size_t>(1 - point), '0');
  const auto whole_digits = static_cast<std::size_t>(std::max(point, 1));
  if (digits.size() < whole_digits) digits.append(whole_digits - digits.size(), '0');
  if (digits.size() > whole_digits) digits.insert(whole_digits, 1, '.');
  return digits;
}

struct DurationUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::array<DurationUnit, 6> kDurationUnits = {{
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

constexpr std::string_view kDurationExample =
    "expected a number with a unit of ns, us, ms, s, m, h, such as 100ms";

Error duration_error(std::string_view text, std::string_view problem) {
  return Error{fmt::format("{} {}", quote(text), problem), "", std::string(kDurationExample)};
}

// Returns `number` (digits with an optional fraction) times `unit` in nanoseconds; nullopt on
// overflow. Sets `inexact` if the product is not a whole number of nanoseconds.
std::optional<std::int64_t> exact_product(std::string_view number, std::int64_t unit,
                                          bool& inexact) {
  const auto point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::int64_t value = 0;
  if (std::from_chars(whole.data(), whole.data() + whole.size(), value).ec != std::errc{})
    return std::nullopt;
  if (__builtin_mul_overflow(value, unit, &value)) return std::nullopt;
  if (point == std::string_view::npos) return value;
  // Multiplies the fraction from its last digit. The product is whole if each step is exact.
  const std::string_view decimals = number.substr(point + 1);
  std::int64_t fraction = 0;
  for (auto digit = decimals.rbegin(); digit != decimals.rend(); ++digit) {
    fraction += (*digit - '0') * unit;
    if (fraction % 10 != 0) inexact = true;
    fraction /= 10;
  }
  if (__builtin_add_overflow(value, fraction, &value)) return std::nullopt;
  return value;
}

struct RatePrefix {
  std::string_view name;
  double factor;
};
constexpr std::array<RatePrefix, 11> kRatePrefixes = {{{"Ki", 0x1p10},
                                                       {"Mi", 0x1p20},
                                                       {"Gi", 0x1p30},
                                                       {"Ti", 0x1p40},
                                                       {"k", 1e3},
                                                       {"K", 1e3},
                                                       {"M", 1e6},
                                                       {"G", 1e9},
                                                       {"T", 1e12},
                                                       {"P", 1e15},
                                                       {"", 1}}};

// Parses a number, a prefix and one of the units. Returns nullopt if the text is invalid or not
// above zero.
std::optional<double> parse_rate(std::string_view text, std::span<const std::string_view> units) {
  const std::string_view trimmed = trim(text);
  const std::string_view number = leading_number(trimmed);
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc{})
    return std::nullopt;
  const std::string_view unit = trim(trimmed.substr(number.size()));
  for (const RatePrefix& prefix : kRatePrefixes) {
    if (!unit.starts_with(prefix.name)) continue;
    const std::string_view base_unit = unit.substr(prefix.name.size());
    const bool is_valid = std::find(units.begin(), units.end(), base_unit) != units.end();
    if (is_valid && value > 0) return value * prefix.factor;
  }
  return std::nullopt;
}

}  // namespace

std::string format_time(Nanoseconds time) {
  const std::int64_t count = time.count();
  if (std::abs(static_cast<double>(count)) < 1000) return fmt::format("{} ns", count);
  const Scaled scaled = scale(std::abs(static_cast<double>(count)), 1000, kTimeUnits.size());
  return fmt::format("{}{} {}", count < 0 ? "-" : "", format_four_digits(scaled.magnitude),
                     kTimeUnits[scaled.unit]);
}

std::string format_count(std::int64_t count) {
  if (count > -10'000 && count < 10'000) return fmt::format("{}", count);
  const Scaled scaled = scale(std::abs(static_cast<double>(count)), 1000, kPrefixes.size());
  return fmt::format("{}{} {}", count < 0 ? "-" : "", format_four_digits(scaled.magnitude),
                     kPrefixes[scaled.unit]);
}

std::string format_bytes(Bytes bytes) {
  if (bytes.count > -1024 && bytes.count < 1024) return fmt::format("{} B", bytes.count);
  const Scaled scaled =
      scale(std::abs(static_cast<double>(bytes.count)), 1024, kBinaryUnits.size());
  return fmt::format("{}{} {}", bytes.count < 0 ? "-" : "", format_four_digits(scaled.magnitude),
                     kBinaryUnits[scaled.unit]);
}

std::string format_significant(double value) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude >= 1) return (value < 0 ? "-" : "") + format_four_digits(magnitude);
  // Below 1 the leading zeros are not significant digits.
  const int decimals = 3 - static_cast<int>(std::floor(std::log10(magnitude)));
  // Rounding may carry into the next power of ten: 0.99999 is 1.000, not 1.0000.
  const bool carries = std::round(magnitude * std::pow(10.0, decimals)) >= 10'000;
  return fmt::format("{:.{}f}", value, std::min(kMaxDecimals, decimals - (carries ? 1 : 0)));
}

std::string format_rate(FlopsPerSecond rate) { return format_rate_in(rate.value, "FLOP/s"); }

std::string format_rate(BytesPerSecond rate) { return format_rate_in(rate.value, "B/s"); }

std::string format_decimal(double value, std::string_view unit) {
  return format_scaled(value, 1000, "", unit);
}

std::string format_binary(double value, std::string_view unit) {
  return format_scaled(value, 1024, "i", unit);
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const std::string_view number = leading_scientific_number(trimmed);
  if (number.empty()) return duration_error(text, "is not a duration");
  const std::string_view unit_name = trim(trimmed.substr(number.size()));
  if (unit_name.empty()) return duration_error(text, "has no unit");
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name != unit_name) continue;
    bool inexact = false;
    const auto value = exact_product(expand_exponent(number), unit.nanoseconds, inexact);
    if (!value) return duration_error(text, "is longer than 292 years");
    if (inexact) return duration_error(text, "is not a whole number of nanoseconds");
    return Nanoseconds(*value);
  }
  return duration_error(text, "is not a duration");
}

Result<double> parse_percentage(std::string_view text) {
  const auto error = [&](std::string_view problem) {
    return Error{fmt::format("{} {}", quote(text), problem), "",
                 "expected a percentage such as 2%"};
  };
  const std::string_view trimmed = trim(text);
  const std::string_view number = leading_number(trimmed);
  if (number.empty()) return error("is not a percentage");
  const std::string_view sign = trim(trimmed.substr(number.size()));
  if (sign.empty()) return error("has no % sign");
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (sign != "%" || parsed.ec != std::errc{}) return error("is not a percentage");
  return value / 100;
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  constexpr std::array<std::string_view, 1> kUnits = {"B/s"};
  if (const auto value = parse_rate(text, kUnits)) return BytesPerSecond{*value};
  return Error{fmt::format("{} is not a bandwidth", quote(text)), "",
               "expected a number with a unit such as 900GB/s or 800GiB/s"};
}

Result<FlopsPerSecond> parse_flop_rate(std::string_view text) {
  constexpr std::array<std::string_view, 3> kUnits = {"FLOP/s", "FLOPS", "FLO/s"};
  if (const auto value = parse_rate(text, kUnits)) return FlopsPerSecond{*value};
  return Error{fmt::format("{} is not a FLOP rate", quote(text)), "",
               "expected a number with a unit such as 10TFLOP/s"};
}

std::size_t display_width(std::string_view utf8) {
  if (is_plain_ascii(utf8)) return utf8.size();
  std::size_t columns = 0;
  for (; !utf8.empty(); ++columns) utf8.remove_prefix(code_point_length(utf8));
  return columns;
}

std::string_view leading_columns(std::string_view utf8, std::size_t columns) {
  std::size_t bytes = 0;
  for (; columns > 0 && bytes < utf8.size(); --columns)
    bytes += code_point_length(utf8.substr(bytes));
  return utf8.substr(0, bytes);
}

std::string shorten(std::string_view utf8, std::size_t width) {
  const std::size_t kept = width - std::min(width, kEllipsis.size());
  return shorten(utf8, width, kept - kept / 2);
}

std::string shorten(std::string_view utf8, std::size_t width, std::size_t head) {
  const std::size_t columns = display_width(utf8);
  if (columns <= width) return std::string(utf8);
  if (width <= kEllipsis.size()) return std::string(leading_columns(utf8, width));
  const std::size_t kept = width - kEllipsis.size();
  const std::size_t before = std::min(head, kept);
  const std::string_view replaced = leading_columns(utf8, columns - (kept - before));
  return fmt::format("{}{}{}", leading_columns(utf8, before), kEllipsis,
                     utf8.substr(replaced.size()));
}

std::string plural_of(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  const bool ends_in_consonant_and_y =
      noun.size() > 1 && noun.back() == 'y' && kVowels.find(noun[noun.size() - 2]) == kVowels.npos;
  if (ends_in_consonant_and_y) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  const bool has_sibilant = noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch");
  return std::string(noun) + (has_sibilant ? "es" : "s");
}

std::string with_article(std::string_view noun) {
  const bool is_vowel =
      !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

std::string format_with_commas(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::ptrdiff_t position = std::ssize(text) - 3; position > 0; position -= 3) {
    text.insert(static_cast<std::size_t>(position), 1, ',');
  }
  return text;
}

void ContentHash::add(std::string_view bytes) {
  for (const char byte : bytes) {
    hash_ ^= static_cast<unsigned char>(byte);
    hash_ *= 0x100000001b3U;
  }
}

std::string ContentHash::text() const { return fmt::format("{:016x}", hash_); }

std::string content_hash(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace bench
