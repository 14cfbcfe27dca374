// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/json_text.hpp"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace bench {

void append_json_integer(std::string& out, std::int64_t number) {
  char digits[24];
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, number);
  assert(code == std::errc());
  out.append(digits, end);
}

void append_json_real(std::string& out, double number) {
  assert(std::isfinite(number));
  fmt::format_to(std::back_inserter(out), "{}", number);
}

void append_microseconds(std::string& out, std::int64_t nanoseconds) {
  assert(nanoseconds != std::numeric_limits<std::int64_t>::min());
  if (nanoseconds < 0) out += '-';
  const std::int64_t magnitude = std::abs(nanoseconds);
  append_json_integer(out, magnitude / 1000);
  const int decimals = static_cast<int>(magnitude % 1000);
  if (decimals == 0) return;
  out += '.';
  out += static_cast<char>('0' + decimals / 100);
  out += static_cast<char>('0' + decimals / 10 % 10);
  out += static_cast<char>('0' + decimals % 10);
}

}  // namespace bench
