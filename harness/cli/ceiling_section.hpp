// SPDX-License-Identifier: Apache-2.0
// The section of `explain` about the stored ceilings of this machine.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"

#include <optional>
#include <string>

namespace bench {

// The ceilings of this machine in a store; none if they cannot be read.
Ceilings ceilings_here(const std::string& store);

// The shortest time that the ceilings permit for a case. nullopt without stored ceilings, or on
// another device than theirs. `memory`: of the prepared case, if it could be prepared.
std::optional<Roofline> ideal_of(const Case& spec, const std::optional<MemoryUse>& memory,
                                 const Ceilings& ceilings);

// Lines that begin with "ceilings". The efficiency, which needs a time, is not shown.
std::string ideal_text(const Roofline& ideal);

}  // namespace bench
