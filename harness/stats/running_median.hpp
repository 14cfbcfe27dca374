// SPDX-License-Identifier: Apache-2.0
// The median of the latest integers of a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

namespace bench {

class RunningMedian {
 public:
  // Of the latest `window` integers; nullopt: of all.
  explicit RunningMedian(std::optional<std::size_t> window = std::nullopt) : window_(window) {}
  void add(std::int64_t value);
  std::size_t size() const { return low_.size() + high_.size(); }
  // The mean of the two middle ones, rounded towards the lower, of an even number; absent of none.
  std::optional<std::int64_t> value() const;

 private:
  void remove(std::int64_t value);
  void balance();

  std::optional<std::size_t> window_;
  std::deque<std::int64_t> order_;          // oldest first; empty without a window
  std::multiset<std::int64_t> low_, high_;  // halves; of an odd number `low_` has one more
};

}  // namespace bench
