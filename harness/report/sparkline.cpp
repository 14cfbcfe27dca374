// SPDX-License-Identifier: Apache-2.0
#include "harness/report/sparkline.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::array<std::string_view, 5> kAsciiLevels = {"_", ".", "-", "'", "^"};
constexpr std::array<std::string_view, 8> kBlockLevels = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                          "\u2585", "\u2586", "\u2587", "\u2588"};

std::span<const std::string_view> glyph_levels(Glyphs glyphs) {
  if (glyphs == Glyphs::blocks) return kBlockLevels;
  return kAsciiLevels;
}

// Splits the values into `groups` of about equal size and returns the median of each group.
std::vector<double> compute_group_medians(std::span<const double> values, std::size_t groups) {
  std::vector<double> medians;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t begin = group * values.size() / groups;
    const std::size_t end = (group + 1) * values.size() / groups;
    medians.push_back(*median(values.subspan(begin, end - begin)));
  }
  return medians;
}

}  // namespace

std::string sparkline(std::span<const double> values, const SparklineOptions& options) {
  const std::size_t groups = std::min(values.size(), options.width);
  if (groups == 0) return "";
  const std::vector<double> medians = compute_group_medians(values, groups);
  const auto [low, high] = std::ranges::minmax(medians);
  const double range = std::max(high - low, options.min_range);
  const double bottom = (low + high) / 2 - range / 2;
  const std::span<const std::string_view> levels = glyph_levels(options.glyphs);
  const auto count = static_cast<double>(levels.size());
  std::string line;
  for (const double value : medians) {
    const double height = range > 0 ? (value - bottom) / range * count : count / 2;
    line += levels[static_cast<std::size_t>(std::clamp(height, 0.0, count - 1))];
  }
  return line;
}

}  // namespace bench
