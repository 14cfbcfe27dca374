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
  // Computes the median of the latest `window` integers, or of all integers if it is nullopt.
  explicit RunningMedian(std::optional<std::size_t> window = std::nullopt) : window_(window) {}
  void add(std::int64_t value);
  std::size_t size() const { return low_.size() + high_.size(); }
  // Returns the median; for an even number of values, the mean of the two middle values, rounded
  // down. Returns nullopt if there are no values.
  std::optional<std::int64_t> value() const;

 private:
  void remove(std::int64_t value);
  void balance();

  std::optional<std::size_t> window_;
  std::deque<std::int64_t> order_;  // oldest first; empty without a window
  // The two halves of the values; for an odd number of values, `low_` has one more
  std::multiset<std::int64_t> low_, high_;
};

}  // namespace bench
