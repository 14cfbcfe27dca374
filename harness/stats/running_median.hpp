// SPDX-License-Identifier: Apache-2.0
// The median of integers that come one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

namespace bench {

class RunningMedian {
 public:
  void add(std::int64_t value);
  std::size_t size() const { return low_.size() + high_.size(); }
  // The mean of the two middle ones, rounded towards the lower, of an even number; absent of none.
  std::optional<std::int64_t> value() const;

 private:
  std::multiset<std::int64_t> low_, high_;  // halves; of an odd number `low_` has one more
};

}  // namespace bench
