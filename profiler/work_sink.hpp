// SPDX-License-Identifier: Apache-2.0
// Adds the work of operators to the activities of a stream.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

// The work of an activity without `flops` and `bytes`: a foreign log records none, or only its own
// values (given_flops, given_bytes). The profiler only decodes, so the caller supplies the
// knowledge about operators.
struct ActivityWork {
  std::string op;
  std::string parameters;
  std::string dtype;
  std::string in_shapes, out_shapes;
  std::optional<std::int64_t> macs;
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes;  // nullopt if the data type is unknown
};
using WorkProvider = std::function<std::optional<ActivityWork>(const Activity&)>;

// Forwards activities and adds the work from `compute_work` to those without `flops` and `bytes`.
// If `compute_work` does not know a value, given_flops or given_bytes supplies it. These two stay
// only if they differ from the value of `compute_work`.
class WorkSink final : public ActivitySink {
 public:
  WorkSink(WorkProvider compute_work, ActivitySink& next);
  Status consume(const Activity& activity) override;

 private:
  WorkProvider work_of_;
  ActivitySink& next_;
  Activity copy_;
};

}  // namespace bench
