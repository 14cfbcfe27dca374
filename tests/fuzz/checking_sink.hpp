// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of readers require of every activity.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/device_number.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string>

namespace bench::fuzz {

// Counts activities, and requires that each is the same kind of record after writing and reading.
class CheckingSink : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    ++consumed;
    require(!activity.duration || activity.duration->count() >= 0);
    line_.clear();
    append_json(activity, "", line_);
    require(parser_.parse(line_).kind == LineKind::activity);
    return Done{};
  }
  std::int64_t consumed = 0;

 private:
  std::string line_;
  ActivityLineParser parser_;
};

// For readers of files of other programs: times and work are never negative, and numbers of devices
// are bounded.
class CheckingWorkSink : public CheckingSink {
 public:
  Status consume(const Activity& activity) override {
    require(activity.start.count() >= 0);
    require(is_device_number(activity.track.device.value_or(0)));
    for (const auto attribute : {Attribute::flops, Attribute::bytes})
      require(activity.attributes.integer(attribute).value_or(0) >= 0);
    return CheckingSink::consume(activity);
  }
};

}  // namespace bench::fuzz
