// SPDX-License-Identifier: Apache-2.0
// Expands the varying values of an entry of `cases:` into single cases.
#pragma once

#include "base/checked.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/network_store.hpp"
#include "harness/config/plan_builder.hpp"
#include "harness/config/reader.hpp"

#include <cstdint>

namespace bench {

// Maximum number of cases of a configuration with all its includes. A convolution case takes 3 kB
// and several seconds of measurement, so this limit means 300 MB and several days.
inline constexpr std::int64_t kMaxCases = 100'000;

// Returns an upper bound of the number of cases of a template (before equal ids are merged) without
// creating any. `layers` is the number of layers of the network's definition.
Checked count_cases(const CaseTemplate& entry, std::int64_t layers);

// Creates the cases. Impossible ones are reported at the wrong value.
void expand_operator(const CaseTemplate& entry, const ops::Catalogue& catalogue, Findings& findings,
                     PlanBuilder& plan);
void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::Catalogue& catalogue, Findings& findings, PlanBuilder& plan);

}  // namespace bench
