// SPDX-License-Identifier: Apache-2.0
#include "base/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace bench {
namespace {

// Smallest span of a usable range, as a fraction of its largest absolute value. Ticks of a narrower
// range would round to the same number.
constexpr double kMinRelativeSpan = 1e-12;

bool is_usable(Extent range) {
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  return std::isfinite(range.span()) && range.span() > kMinRelativeSpan * largest;
}

// Returns the smallest 1, 2 or 5 times a power of ten that is not less than `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Returns the products of `factors` and powers of ten within the range. `factors` are ascending.
std::vector<double> make_decade_ticks(Extent range, std::span<const double> factors) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (int power = first; power <= last; ++power) {
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, power);
      if (tick >= range.low * (1 - 1e-9) && tick <= range.high * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

// A unit with its prefix: {1e3, "us"} for values in ns.
struct ScaledUnit {
  double factor;
  std::string_view name;
};

std::string format_scaled_tick(double value, std::span<const ScaledUnit> units) {
  const ScaledUnit* chosen = &units.front();
  for (const ScaledUnit& unit : units) {
    if (std::abs(value) >= unit.factor * (1 - 1e-9)) chosen = &unit;
  }
  return fmt::format("{:.4g} {}", value / chosen->factor, chosen->name);
}

}  // namespace

std::vector<double> linear_ticks(Extent range, std::size_t limit) {
  if (!is_usable(range) || limit == 0) return {};
  double step = round_step(range.span() / static_cast<double>(limit));
  for (;; step = round_step(step * 1.5)) {
    std::vector<double> ticks;
    const double first = std::ceil(range.low / step - 1e-9);
    const double last = std::floor(range.high / step + 1e-9);
    if (last - first >= static_cast<double>(limit)) continue;
    for (double i = first; i <= last; ++i) ticks.push_back(i == 0 ? 0 : i * step);
    return ticks;
  }
}

std::vector<double> log_ticks(Extent range, std::size_t limit) {
  if (!is_usable(range) || range.low <= 0 || limit == 0) return {};
  constexpr std::array kFine = {1.0, 2.0, 5.0};
  constexpr std::array kCoarse = {1.0};
  std::vector<double> ticks = make_decade_ticks(range, kFine);
  if (ticks.size() > limit) ticks = make_decade_ticks(range, kCoarse);
  // A range of less than a decade may contain too few of these ticks to read values between them.
  constexpr std::size_t kMinTicks = 3;
  if (ticks.size() < kMinTicks) return linear_ticks(range, limit);
  while (ticks.size() > limit) {
    std::vector<double> fewer;
    for (std::size_t i = 0; i < ticks.size(); i += 2) fewer.push_back(ticks[i]);
    ticks = std::move(fewer);
  }
  return ticks;
}

Scale::Scale(Kind kind, Extent values, Extent positions)
    : kind_(kind), values_(values), positions_(positions) {}

double Scale::position(double value) const {
  const double clamped = std::clamp(value, values_.low, values_.high);
  const double fraction = kind_ == Kind::linear ? (clamped - values_.low) / values_.span()
                                                : std::log(clamped / values_.low) /
                                                      std::log(values_.high / values_.low);
  return positions_.low + fraction * positions_.span();
}

std::vector<double> Scale::ticks(std::size_t limit) const {
  return kind_ == Kind::linear ? linear_ticks(values_, limit) : log_ticks(values_, limit);
}

std::string format_time_tick(double value) {
  constexpr std::array<ScaledUnit, 4> kUnits = {{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  return value == 0 ? "0" : format_scaled_tick(value, kUnits);
}

std::string format_flop_rate_tick(double value) {
  constexpr std::array<ScaledUnit, 5> kUnits = {
      {{1, "FLOP/s"}, {1e3, "kFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}}};
  return value == 0 ? "0" : format_scaled_tick(value, kUnits);
}

std::string format_change_tick(double fraction) {
  return fraction == 0 ? "0 %" : fmt::format("{:+.4g} %", 100 * fraction);
}

std::string format_plain_tick(double value) { return fmt::format("{:.4g}", value); }

}  // namespace bench
