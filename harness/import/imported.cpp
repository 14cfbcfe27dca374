// SPDX-License-Identifier: Apache-2.0
#include "harness/import/imported.hpp"

#include "base/checked.hpp"
#include "harness/stats/summary.hpp"

#include <limits>

namespace bench {

void ExecutionTimes::add(Nanoseconds time) {
  if (all_.count() == 0 && exact_.size() < kMaxExactTimes) {
    exact_.push_back(time);
    return;
  }
  for (const Nanoseconds earlier : exact_) all_.add(earlier.count());
  exact_ = {};
  all_.add(time.count());
}

std::optional<Nanoseconds> ExecutionTimes::median() const {
  if (all_.count() == 0) return bench::median(exact_);
  return Nanoseconds(*all_.quantile(0.5));
}

std::int64_t ImportedModel::all_flops() const {
  return (Checked(flops) + refused_flops)
      .value()
      .value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace bench
