// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/median.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {
namespace {

// Standard deviation of a normal distribution, divided by its median absolute deviation
constexpr double kDeviationScale = 1.4826;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

}  // namespace

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  const std::size_t middle = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[middle];
  return ordered[middle - 1] / 2 + ordered[middle] / 2;
}

std::optional<double> quantile(std::span<const double> values, double p) {
  assert(p >= 0 && p <= 1);
  if (values.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  const double position = p * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  return std::lerp(ordered[below], ordered[above], position - static_cast<double>(below));
}

std::optional<double> scaled_deviation(std::span<const double> values) {
  const std::optional<double> middle = median(values);
  if (!middle) return std::nullopt;
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - *middle));
  return kDeviationScale * *median(deviations);
}

}  // namespace bench
