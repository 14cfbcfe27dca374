// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/wall_shares.hpp"

#include "profiler/analysis/saturating.hpp"

#include <algorithm>
#include <cmath>

namespace bench::analysis {

Nanoseconds sum_durations(const Durations& durations) {
  Nanoseconds sum{0};
  for (const auto& [name, time] : durations) sum = saturating_sum(sum, time);
  return sum;
}

Durations divide_wall(const Durations& times, Nanoseconds occupied) {
  const Nanoseconds sum = sum_durations(times);
  if (sum <= occupied) return times;
  const long double part =
      static_cast<long double>(occupied.count()) / static_cast<long double>(sum.count());
  Durations divided;
  Nanoseconds rest = occupied;
  for (const auto& [name, time] : times) {
    const Nanoseconds share(std::llroundl(static_cast<long double>(time.count()) * part));
    divided[name] = std::min(share, rest);
    rest -= divided[name];
  }
  divided.begin()->second += rest;  // a few nanoseconds, so that the sum is exact
  return divided;
}

}  // namespace bench::analysis
