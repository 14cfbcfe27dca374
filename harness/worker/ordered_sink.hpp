// SPDX-License-Identifier: Apache-2.0
// Sorts activities that are recorded after the fact by end time, as readers of profiles expect. A
// library's log, for example, is read only when nothing is timed.
#pragma once

#include "profiler/activity.hpp"

#include <vector>

namespace bench {

class OrderedSink final : public ActivitySink {
 public:
  enum class Order { as_taken, by_end };  // as_taken: forwards at once
  OrderedSink(ActivitySink& next, Order order) : next_(next), order_(order) {}

  Status take(const Activity& activity) override;
  // Forwards the kept activities. Of those that end at the same time, the one that began last comes
  // first.
  Status release();

 private:
  ActivitySink& next_;
  const Order order_;
  std::vector<Activity> kept_;
};

}  // namespace bench
