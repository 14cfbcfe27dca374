// SPDX-License-Identifier: Apache-2.0
// Measures variants of a case against the case (`bench explain --try`), in duets of this program
// with itself.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/gate/measurer.hpp"
#include "harness/judge/variant.hpp"
#include "harness/run/time_limit.hpp"

#include <cstdint>
#include <vector>

namespace bench {

struct VariantTask {
  const Case* spec;
  const std::vector<PlannedVariant>* variants;
  int duets = 0;  // per variant
  std::uint64_t seed = 1;
};

// Takes one duet of each variant in turn, so that a disturbance does not affect all duets of one.
// Each duet of a variant has new processes. Returns one result per variant. A variant that fails is
// not measured again; the others are. The worker factories of `parts` start the same program.
std::vector<VariantResult> try_variants(const VariantTask& task, const GateParts& parts,
                                        const TimeLimit& limit, Clock& clock);

}  // namespace bench
