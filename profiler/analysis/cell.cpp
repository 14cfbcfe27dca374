// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

namespace bench::analysis {
namespace {

std::string readable_number(double value, Quantity quantity) {
  switch (quantity) {
    case Quantity::none:
      break;
    case Quantity::time:
      return format_time(Nanoseconds(std::llround(value)));
    case Quantity::flop:
      return format_decimal(value, "FLOP");
    case Quantity::flop_rate:
      return format_decimal(value, "FLOP/s");
    case Quantity::byte:
      return format_binary(value, "B");
    case Quantity::byte_rate:
      return format_decimal(value, "B/s");
    case Quantity::share:
      return fmt::format("{:.1f} %", 100 * value);
    case Quantity::ratio:
      return fmt::format("{:.4g}", value);
    case Quantity::item_rate:
      return format_significant(value);
  }
  return fmt::format("{}", value);
}

// Returns whether a spreadsheet would interpret a cell's text as a formula: it begins as one and is
// not a number. The signs are those of OWASP's "CSV Injection", including full-width forms. Control
// characters are already escaped.
bool is_formula(std::string_view text) {
  constexpr std::array<std::string_view, 8> kSigns = {
      "=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
  constexpr std::string_view kFirstBytes = "=+-@\xef";  // nearly every text begins otherwise
  if (text.empty() || kFirstBytes.find(text.front()) == std::string_view::npos) return false;
  const auto starts = [&](std::string_view sign) {
    return text.starts_with(sign) && text != sign;  // a sign alone is not a formula
  };
  if (std::ranges::none_of(kSigns, starts)) return false;
  const std::string_view number = text.substr(text.starts_with('+') ? 1 : 0);
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  return error != std::errc() || stop != end;
}

// Appends the value as raw() returns it.
void append_raw(const Cell& cell, std::string& line) {
  if (const auto* text = std::get_if<std::string>(&cell)) line += *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    fmt::format_to(std::back_inserter(line), "{}", *number);
  if (const auto* real = std::get_if<double>(&cell))
    fmt::format_to(std::back_inserter(line), "{}", *real);
}

}  // namespace

double to_number(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*number);
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr ? *real : 0;
}

std::string readable(const Cell& cell, Quantity quantity) {
  if (!is_known(cell)) return std::string(kUnknown);
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  if (quantity == Quantity::none) return raw(cell);
  return readable_number(to_number(cell), quantity);
}

std::string raw(const Cell& cell) {
  std::string text;
  append_raw(cell, text);
  return text;
}

void append_csv(const Cell& cell, std::string& line) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return append_raw(cell, line);
  const std::string escaped = is_plain_ascii(*text) ? std::string() : escape_controls(*text);
  std::string_view shown = escaped.empty() ? std::string_view(*text) : std::string_view(escaped);
  line += is_formula(shown) ? "\"'" : "\"";
  for (std::size_t quote = shown.find('"'); quote != std::string_view::npos;
       quote = shown.find('"')) {
    line.append(shown.substr(0, quote + 1)) += '"';
    shown.remove_prefix(quote + 1);
  }
  line.append(shown) += '"';
}

std::size_t readable_width(Quantity quantity) {
  switch (quantity) {
    case Quantity::none:
      break;
    case Quantity::time:
      return 8;  // "999.9 us"
    case Quantity::share:
      return 7;  // "100.0 %"
    case Quantity::ratio:
    case Quantity::item_rate:
      return 9;  // "1.235e-05"
    case Quantity::flop:
      return 12;  // "999.99 GFLOP"
    case Quantity::flop_rate:
      return 14;  // "999.99 GFLOP/s"
    case Quantity::byte:
      return 11;  // "1023.99 MiB"
    case Quantity::byte_rate:
      return 11;  // "999.99 GB/s"
  }
  return 0;
}

int compare(const Cell& a, const Cell& b) {
  const auto* text_a = std::get_if<std::string>(&a);
  const auto* text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr && text_b != nullptr) {
    const int order = text_a->compare(*text_b);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (text_a != nullptr || text_b != nullptr) return text_a != nullptr ? 1 : -1;
  const auto* integer_a = std::get_if<std::int64_t>(&a);
  const auto* integer_b = std::get_if<std::int64_t>(&b);
  if (integer_a != nullptr && integer_b != nullptr) {
    return *integer_a < *integer_b ? -1 : *integer_a > *integer_b ? 1 : 0;
  }
  const double x = to_number(a);
  const double y = to_number(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

}  // namespace bench::analysis
