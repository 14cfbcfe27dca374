// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/median.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end());
  const std::size_t middle = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[middle];
  return ordered[middle - 1] / 2 + ordered[middle] / 2;
}

}  // namespace bench
