// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/slowdown.hpp"

#include "base/text.hpp"
#include "harness/result/record.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace bench {
namespace {

std::optional<double> parse_fraction(std::string_view text) {
  if (text.ends_with('%')) {
    const Result<double> share = parse_percentage(text);
    return share ? std::optional<double>(*share) : std::nullopt;
  }
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional<double>(share) : std::nullopt;
}

}  // namespace

Result<double> parse_slowdown(std::string_view text) {
  const std::optional<double> share = parse_fraction(text);
  // The comparisons also reject NaN.
  if (share && *share >= 0 && *share <= 1) return *share;
  return Error{fmt::format("`{}` is not a fraction of the time", shorten(text, 40)),
               kSlowdownVariable, "expected one from 0% to 100%, such as 3% or 0.03"};
}

Status check_slowdown(const std::optional<std::string>& value) {
  if (value) BENCH_RETURN_IF_ERROR(parse_slowdown(*value));
  return Done{};
}

}  // namespace bench
