// SPDX-License-Identifier: Apache-2.0
// Collectors write what has begun as unfinished, so that a crash shows it, and again when it has
// ended. Of such a pair only the second is wanted.
#pragma once

#include "profiler/activity.hpp"

#include <cstddef>
#include <deque>

namespace bench {

// A stream stage: holds unfinished activities back until their end comes, and hands on at finish()
// those whose end never came.
class Announcements final : public ActivitySink {
 public:
  explicit Announcements(ActivitySink& next) : next_(next) {}
  Status take(const Activity& activity) override;
  Status finish();

 private:
  ActivitySink& next_;
  std::deque<Activity> open_;
};

}  // namespace bench
