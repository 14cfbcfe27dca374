// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/steady_canaries.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace bench {
namespace {

// Neighbours on each side. From 3 to 6 the results are the same.
constexpr std::size_t kSteadyNeighbours = 4;

}  // namespace

std::vector<Nanoseconds> steady_canaries(std::span<const Nanoseconds> canaries) {
  std::vector<Nanoseconds> known;
  std::ranges::copy_if(canaries, std::back_inserter(known),
                       [](Nanoseconds canary) { return canary > Nanoseconds(0); });
  std::vector<Nanoseconds> steady(canaries.begin(), canaries.end());
  std::size_t number = 0;  // number of the known canary
  for (Nanoseconds& canary : steady) {
    if (canary <= Nanoseconds(0)) continue;
    const std::size_t first = number - std::min(number, kSteadyNeighbours);
    const std::size_t last = std::min(known.size(), number + kSteadyNeighbours + 1);
    std::vector<Nanoseconds> window(known.begin() + static_cast<std::ptrdiff_t>(first),
                                    known.begin() + static_cast<std::ptrdiff_t>(last));
    const auto middle = window.begin() + (std::ssize(window) - 1) / 2;
    std::ranges::nth_element(window, middle);
    canary = *middle;
    ++number;
  }
  return steady;
}

}  // namespace bench
