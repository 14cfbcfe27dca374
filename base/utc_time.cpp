// SPDX-License-Identifier: Apache-2.0
#include "base/utc_time.hpp"

#include "base/characters.hpp"

#include <charconv>
#include <chrono>
#include <cstddef>

namespace bench {
namespace {

constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:ddZ";
constexpr std::size_t kDateSize = 10;

// Returns the number in `length` digits of a text that matches the pattern.
unsigned number_at(std::string_view text, std::size_t begin, std::size_t length) {
  unsigned value = 0;
  std::from_chars(text.data() + begin, text.data() + begin + length, value);
  return value;
}

// Returns the date at the beginning of a text that matches the pattern; it may be invalid.
std::chrono::year_month_day date_at(std::string_view text) {
  return {std::chrono::year(static_cast<int>(number_at(text, 0, 4))),
          std::chrono::month(number_at(text, 5, 2)), std::chrono::day(number_at(text, 8, 2))};
}

}  // namespace

bool is_utc_date(std::string_view text) {
  if (text.size() < kDateSize || text.size() > kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kPattern[i] == 'd' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  return date_at(text).ok();
}

bool is_utc_time(std::string_view text) {
  constexpr unsigned kLeapSecond = 60;
  return text.size() == kPattern.size() && is_utc_date(text) && number_at(text, 11, 2) < 24 &&
         number_at(text, 14, 2) < 60 && number_at(text, 17, 2) <= kLeapSecond;
}

std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text) {
  if (!is_utc_time(text)) return std::nullopt;
  return std::chrono::sys_days(date_at(text)) + std::chrono::hours(number_at(text, 11, 2)) +
         std::chrono::minutes(number_at(text, 14, 2)) +
         std::chrono::seconds(number_at(text, 17, 2));
}

}  // namespace bench
