// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/slowdown.hpp"

#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/result/record.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace bench {
namespace {

std::optional<double> parse_fraction(std::string_view text) {
  if (text.ends_with('%')) {
    const Result<double> fraction = parse_percentage(text);
    return fraction ? std::optional<double>(*fraction) : std::nullopt;
  }
  double fraction = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  const bool is_complete = error == std::errc() && end == text.data() + text.size();
  return is_complete ? std::optional<double>(fraction) : std::nullopt;
}

}  // namespace

Result<double> parse_slowdown(std::string_view text) {
  const std::optional<double> fraction = parse_fraction(text);
  // The comparisons also reject NaN.
  if (fraction && *fraction >= 0 && *fraction <= 1) return *fraction;
  return Error{fmt::format("{} is not a fraction of the time", quote(text)), kSlowdownVariable,
               "expected one from 0% to 100%, such as 3% or 0.03"};
}

Status check_slowdown(const std::optional<std::string>& value) {
  if (value) BENCH_RETURN_IF_ERROR(parse_slowdown(*value));
  return Done{};
}

}  // namespace bench
