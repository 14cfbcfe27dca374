// SPDX-License-Identifier: Apache-2.0
// The column *vs baseline* of a run: its report compared with the stored runs of the same cases.
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
  // Reasons and next steps, one note per distinct reason.
  std::vector<std::string> notes;
};

// Compares each measured case with the last run of its present epoch, by the rules of `bench
// compare`. Unreadable parts of the store give notes.
VersusBaseline versus_baseline(const Report& report, const BaselineStore& store);

}  // namespace bench
