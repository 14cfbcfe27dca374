// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/false_discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace bench {

std::vector<double> adjusted_p_values(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double least = 1;  // minimum over this and all larger p-values
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t index = order[rank - 1];
    least = std::min(least, p_values[index] * count / static_cast<double>(rank));
    adjusted[index] = least;
  }
  return adjusted;
}

}  // namespace bench
