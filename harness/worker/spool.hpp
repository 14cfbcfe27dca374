// SPDX-License-Identifier: Apache-2.0
// The file that a profile pass writes its activities to.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Passes activities from a worker to its coordinator: appends them to a file as `activity` records,
// one per line. If the worker crashes, the file has all activities up to the last write.
//
// Not thread-safe; a Recorder calls it under its lock.
class ActivitySpool final : public ActivitySink {
 public:
  // Appends to the file, or creates it. The spool buffers activities. It writes the buffer with the
  // first activity that arrives `period` or more after the last write, or if the buffer is full. A
  // period of 0 writes each activity at once.
  static Result<ActivitySpool> open(const std::string& path, std::string run_id, Clock& clock,
                                    Nanoseconds period);

  Status consume(const Activity& activity) override;
  Status flush();
  std::int64_t count() const { return count_; }

 private:
  ActivitySpool(RecordFile file, std::string run_id, Clock& clock, Nanoseconds period);

  RecordFile file_;
  std::string run_id_;
  Clock* clock_;
  Nanoseconds period_;
  Nanoseconds last_write_{0};  // the time of the last write
  std::string buffer_;
  std::int64_t count_ = 0;
};

// Sorts activities by end time, as readers of profiles expect. Needed for activities that are
// recorded later than they happen. For example, a library's log is read only when nothing is timed.
class OrderedSink final : public ActivitySink {
 public:
  enum class Order { arrival, end_time };  // arrival: forwards at once; end_time: at release()
  OrderedSink(ActivitySink& next, Order order) : next_(next), order_(order) {}

  Status consume(const Activity& activity) override;
  // Forwards the kept activities. If two end at the same time, the one that began later comes
  // first, because the other one contains it.
  Status release();

 private:
  ActivitySink& next_;
  const Order order_;
  std::vector<Activity> kept_;
};

}  // namespace bench
