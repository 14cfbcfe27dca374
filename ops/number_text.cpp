// SPDX-License-Identifier: Apache-2.0
#include "ops/number_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace bench::ops {
namespace {

template <class T>
std::optional<T> read_number(std::string_view& text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string format_real(double value) {
  std::string text = fmt::format("{}", value);
  std::erase(text, '+');
  return text;
}

std::optional<double> read_real(std::string_view& text) {
  // from_chars would accept "inf" and "nan", which are not valid parameter values.
  if (text.empty() || text.find_first_of("0123456789") > 2) return std::nullopt;
  std::string_view unread = text;
  const std::optional<double> value = read_number<double>(unread);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  text = unread;
  return value;
}

std::optional<std::int64_t> read_integer(std::string_view& text) {
  return read_number<std::int64_t>(text);
}

}  // namespace bench::ops
