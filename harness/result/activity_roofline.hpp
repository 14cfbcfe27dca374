// SPDX-License-Identifier: Apache-2.0
// Computes how near the activities of a profile come to the ceilings of a machine. Applies the
// arithmetic of harness/result/roofline.hpp to parts of a case, and to programs without cases.
#pragma once

#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/query.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace bench {

// Determines the work of activities. Caches the results, since activities of a profile repeat.
// Not thread-safe.
class ActivityWorkModel {
 public:
  struct ModelledWork {
    ops::Work work;
    Bytes weights{0};  // 0 if unknown
  };
  // Returns the FLOPs and bytes that the activity records; nullopt if it records neither. If its
  // attributes describe a problem of an operator, also sets the FLOPs without padding and the size
  // of the weights.
  std::optional<ModelledWork> work(const Activity& activity);

 private:
  // Returns the work of the problem that the attributes describe; nullopt if they describe none.
  const std::optional<ModelledWork>& model_work(const Activity& activity);

  std::string key_;  // a member to reuse its memory
  std::unordered_map<std::string, std::optional<ModelledWork>> cache_;
};

// Uses the ceilings of the machine on which the activities ran. Reads the cache mode and the
// threads from the activity's case id. Without a case id, assumes all threads, and that data are
// in the smallest cache that holds them. The provider returns nullopt unless the activity executed
// work on the CPU.
IdealProvider make_ideal_provider(Ceilings ceilings);

// Uses the ceilings in the roofline of the activity's case. `cases`: rooflines by case id.
IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases);

}  // namespace bench
