// SPDX-License-Identifier: Apache-2.0
// Decides whether the processors and the memory of this machine suffice for a case.
#pragma once

#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/placement.hpp"

#include <optional>
#include <string>

namespace bench {

// Returns why a run skips the case: it needs more threads than there are processors, or more memory
// than is available. Returns nullopt otherwise. `memory`: nullopt if unknown. The worker checks the
// memory once more, because other programs may use it in the meantime.
std::optional<std::string> machine_skip_reason(const Case& spec, const Cores& cores,
                                               std::optional<Bytes> memory);

}  // namespace bench
