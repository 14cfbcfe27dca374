// SPDX-License-Identifier: Apache-2.0
// Activities on their way from a worker to its coordinator: `activity` records appended as lines to
// a file. If a worker ends early, the file keeps what happened until then.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <string>

namespace bench {

// Not thread-safe; a Recorder calls it under its lock.
class ActivitySpool final : public ActivitySink {
 public:
  // Appends to the file, or creates it. An activity is written at the latest with the first
  // activity taken `period` after the last write.
  static Result<ActivitySpool> open(const std::string& path, std::string run_id, Clock& clock,
                                    Nanoseconds period);

  Status take(const Activity& activity) override;
  Status flush();
  std::int64_t taken() const { return taken_; }

 private:
  ActivitySpool(RecordFile file, std::string run_id, Clock& clock, Nanoseconds period);

  RecordFile file_;
  std::string run_id_;
  Clock* clock_;
  Nanoseconds period_;
  Nanoseconds written_{0};  // time of the last write
  std::string buffer_;
  std::int64_t taken_ = 0;
};

}  // namespace bench
