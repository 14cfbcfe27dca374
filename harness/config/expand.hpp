// SPDX-License-Identifier: Apache-2.0
// From what may vary in an entry of `cases:` to single cases.
#pragma once

#include "base/checked.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/network_store.hpp"
#include "harness/config/plan_builder.hpp"
#include "harness/config/reader.hpp"

#include <cstdint>

namespace bench {

// Of a configuration with all that it includes. A case of a convolution takes 3 kB, and seconds to
// measure: these are 300 MB, and days.
inline constexpr std::int64_t kMaxCases = 100'000;

// The most cases that a template can make (before equal ids are merged), without making any.
// `layers`: of the network's definition.
Checked count_cases(const CaseTemplate& entry, std::int64_t layers);

// Makes them; impossible ones are findings at the value at fault.
void expand_operator(const CaseTemplate& entry, const ops::Catalogue& catalogue, Findings& findings,
                     PlanBuilder& plan);
void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::Catalogue& catalogue, Findings& findings, PlanBuilder& plan);

}  // namespace bench
