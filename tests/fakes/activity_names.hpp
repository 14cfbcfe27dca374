// SPDX-License-Identifier: Apache-2.0
// A sink that keeps the names of the activities that it receives.
#pragma once

#include "profiler/activity.hpp"

#include <string>
#include <vector>

namespace bench {

class ActivityNames final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    names.push_back(activity.name);
    return Done{};
  }
  std::vector<std::string> names;
};

}  // namespace bench
