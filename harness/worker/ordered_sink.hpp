// SPDX-License-Identifier: Apache-2.0
// Puts activities that are recorded after the fact (a library's log is read when nothing is timed)
// into the order in which they ended, as readers of profiles expect them.
#pragma once

#include "profiler/activity.hpp"

#include <vector>

namespace bench {

class OrderedSink final : public ActivitySink {
 public:
  enum class Order { as_taken, by_end };  // as_taken: hands on at once
  OrderedSink(ActivitySink& next, Order order) : next_(next), order_(order) {}

  Status take(const Activity& activity) override;
  // Hands on what has been kept: of those that end together the last begun first.
  Status release();

 private:
  ActivitySink& next_;
  const Order order_;
  std::vector<Activity> kept_;
};

}  // namespace bench
