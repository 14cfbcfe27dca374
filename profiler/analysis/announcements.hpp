// SPDX-License-Identifier: Apache-2.0
// A profile pass that locates a failure writes an activity twice: as unfinished when it begins, so
// that a crash shows it, and again when it has ended. This stage keeps only the second record of
// such a pair.
#pragma once

#include "profiler/activity.hpp"

#include <cstddef>
#include <deque>

namespace bench {

// A stream stage that holds unfinished activities until their end arrives. finish() forwards those
// whose end never arrived.
class BeginRecordMerger final : public ActivitySink {
 public:
  explicit BeginRecordMerger(ActivitySink& next) : next_(next) {}
  Status consume(const Activity& activity) override;
  Status finish();

 private:
  ActivitySink& next_;
  std::deque<Activity> open_;
};

}  // namespace bench
