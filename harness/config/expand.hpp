// SPDX-License-Identifier: Apache-2.0
// From what may vary in an entry of `cases:` to single cases.
#pragma once

#include "harness/config/case_template.hpp"
#include "harness/config/network_store.hpp"
#include "harness/config/plan_builder.hpp"
#include "harness/config/reader.hpp"

#include <cstdint>

namespace bench {

inline constexpr std::int64_t kMaxCases = 1'000'000;

// The most cases that a template can make (before equal ids are merged), without making any; any
// number above kMaxCases stands for "too many". `layers`: of the network's definition.
std::int64_t count_cases(const CaseTemplate& entry, std::int64_t layers);

// Makes them; impossible ones are findings at the value at fault.
void expand_operator(const CaseTemplate& entry, const ops::Catalogue& catalogue, Findings& findings,
                     PlanBuilder& plan);
void expand_network(const CaseTemplate& entry, const NetworkFile& file, NetworkStore& networks,
                    const ops::Catalogue& catalogue, Findings& findings, PlanBuilder& plan);

}  // namespace bench
