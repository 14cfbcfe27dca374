// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_cost.hpp"

#include "harness/stats/summary.hpp"

#include <utility>

namespace bench {

ProfileCost::ProfileCost(Clock& clock, Iteration plain, Iteration profiled)
    : clock_(clock), plain_{std::move(plain), {}}, profiled_{std::move(profiled), {}} {}

Status ProfileCost::Side::take() {
  BENCH_ASSIGN_OR_RETURN(const Nanoseconds time, run());
  times.push_back(time);
  return Done{};
}

// Alternates the order of pairs. Machine drift then affects both kinds equally, and each kind
// follows itself as often as the other. This matters because an iteration inherits the caches of
// the previous one.
Status ProfileCost::measure_half() {
  const Nanoseconds start = clock_.now();
  for (std::int64_t i = 0; i < kCostPairs / 2; ++i) {
    const bool plain_first = i % 2 == 0;
    BENCH_RETURN_IF_ERROR((plain_first ? plain_ : profiled_).take());
    BENCH_RETURN_IF_ERROR((plain_first ? profiled_ : plain_).take());
    if (clock_.now() - start >= kCostTime) break;
  }
  return Done{};
}

Status ProfileCost::measure(Side& side) {
  const Nanoseconds start = clock_.now();
  for (std::int64_t i = 0; i < kCostPairs; ++i) {
    BENCH_RETURN_IF_ERROR(side.take());
    if (clock_.now() - start >= kCostTime) break;
  }
  return Done{};
}

Nanoseconds ProfileCost::plain() const { return median(plain_.times).value_or(Nanoseconds(0)); }
Nanoseconds ProfileCost::profiled() const {
  return median(profiled_.times).value_or(Nanoseconds(0));
}

}  // namespace bench
