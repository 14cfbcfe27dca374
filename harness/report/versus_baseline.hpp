// SPDX-License-Identifier: Apache-2.0
// The column *vs baseline* of a run: its report beside what the store holds of the same cases.
#pragma once

#include "harness/result/report.hpp"
#include "harness/store/store.hpp"

#include <map>
#include <string>
#include <vector>

namespace bench {

struct VersusBaseline {
  // By case id: "+1.2% [-0.3%, +2.4%]", "incomparable", "no baseline".
  std::map<std::string, std::string> cells;
  // Why, and what to do: one for all cases with the same reason.
  std::vector<std::string> notes;
};

// Each case that was measured against the last run of its present epoch, by the rules of
// `bench compare`. What cannot be read of the store is a note too.
VersusBaseline versus_baseline(const Report& report, const BaselineStore& store);

}  // namespace bench
