// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/running_median.hpp"

#include <iterator>

namespace bench {

void RunningMedian::add(std::int64_t value) {
  if (window_) {
    order_.push_back(value);
    if (order_.size() > *window_) {
      remove(order_.front());
      order_.pop_front();
    }
  }
  if (low_.empty() || value <= *low_.rbegin()) {
    low_.insert(value);
  } else {
    high_.insert(value);
  }
  balance();
}

// `value` must be in one of the halves.
void RunningMedian::remove(std::int64_t value) {
  if (const auto low = low_.find(value); low != low_.end()) {
    low_.erase(low);
  } else {
    high_.erase(high_.find(value));
  }
  balance();
}

void RunningMedian::balance() {
  if (low_.size() > high_.size() + 1) {
    high_.insert(low_.extract(std::prev(low_.end())));
  } else if (high_.size() > low_.size()) {
    low_.insert(high_.extract(high_.begin()));
  }
}

std::optional<std::int64_t> RunningMedian::value() const {
  if (low_.empty()) return std::nullopt;
  const std::int64_t middle = *low_.rbegin();
  return low_.size() > high_.size() ? middle : middle + (*high_.begin() - middle) / 2;
}

}  // namespace bench
