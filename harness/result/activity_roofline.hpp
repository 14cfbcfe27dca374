// SPDX-License-Identifier: Apache-2.0
// How near the activities of a profile come to the ceilings of a machine: the arithmetic of
// harness/result/roofline.hpp for parts of a case, and for programs that have no cases.
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

// Finds out what activities compute. Profiles repeat themselves, so answers are kept. Not
// thread-safe.
class ActivityWorkModel {
 public:
  struct Known {
    ops::Work work;
    Bytes weights{0};
  };
  // The activity's FLOPs and bytes; nullopt without them. If its parameters are those of an
  // operator, the work knows its FLOPs without padding, and the weights are known.
  std::optional<Known> work(const Activity& activity);

 private:
  const std::optional<Known>& modelled(const Activity& activity);

  std::string key_;
  std::unordered_map<std::string, std::optional<Known>> known_;
};

// With the ceilings of the machine on which the activities ran. The case id contains the cache
// mode and the threads; without one, data that fit into a cache are assumed to be there, and all
// threads compute. The function answers only for executed work on the CPU.
IdealProvider make_ideal_provider(Ceilings ceilings);

// With the ceilings that apply to each case, by its id, as its record states them.
IdealProvider make_ideal_provider(std::map<std::string, Roofline> cases);

}  // namespace bench
