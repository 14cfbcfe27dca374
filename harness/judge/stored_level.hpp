// SPDX-License-Identifier: Apache-2.0
// From the runs that a store holds of each case to the level and the noise that a gate compares
// with: of real runs (stage_one.hpp) and of drawn ones (simulation.hpp) alike.
#pragma once

#include "harness/judge/evidence.hpp"
#include "harness/store/history.hpp"

#include <span>
#include <vector>

namespace bench {

// Sets runs, center, sigma, q95 and q99 of the cases that have a comparable `stored`. `levels`: one
// entry a case, its runs of the present configuration in the order of the store. Of medians come
// the sigmas, moderated towards the suite's, as gates.md 3.5 has it; of lower quartiles the rest.
// A case of whose noise nothing is known has no runs: it is measured again.
void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const std::vector<RunLevel>> levels);

}  // namespace bench
