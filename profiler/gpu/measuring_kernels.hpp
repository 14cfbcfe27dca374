// SPDX-License-Identifier: Apache-2.0
// The kernels with which bench itself measures: one that blocks a stream, one that reads clocks, an
// empty one. A profile of bench contains them beside the measured work.
#pragma once

#include "profiler/activity.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Returns whether a kernel of this short name only serves a measurement of bench.
bool is_measuring_kernel(std::string_view short_name);

// A stream stage that drops measuring kernels and counts them.
class MeasuringKernelFilter final : public ActivitySink {
 public:
  explicit MeasuringKernelFilter(ActivitySink& next) : next_(next) {}
  Status consume(const Activity& activity) override;
  // Returns a note on the dropped kernels; empty if there are none.
  std::string note() const;

 private:
  ActivitySink& next_;
  std::int64_t dropped_ = 0;
};

}  // namespace bench
