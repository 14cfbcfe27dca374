// SPDX-License-Identifier: Apache-2.0
// Computes the level and the noise that a gate compares with from the stored runs of each case.
// Serves real runs (stage_one.hpp) and resampled ones (simulation.hpp).
#pragma once

#include "harness/judge/evidence.hpp"
#include "harness/store/history.hpp"

#include <span>
#include <vector>

namespace bench {

// Sets runs, center, sigma, q95 and q99 of the cases that have a comparable `stored`. `levels` has
// one entry per case: its runs of the present configuration, in the order of the store. The sigmas
// come from the medians and are moderated towards the suite's sigma (gates.md 3.5). The other
// values come from the lower quartiles. A case of unknown noise gets runs = 0 and is measured
// again.
void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const std::vector<RunLevel>> levels);

}  // namespace bench
