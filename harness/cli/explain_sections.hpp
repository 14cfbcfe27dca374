// SPDX-License-Identifier: Apache-2.0
// The sections of `explain` about tensor cores (--arch: the verdict of the rules of
// ops/tensor_core/ on a case) and about the stored ceilings of this machine.
#pragma once

#include "base/json_writer.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <optional>
#include <string>

namespace bench {

// For an operator: its parts with reasons and rules. For a network: one line per convolution and
// product. Begins with "tensor cores" and ends in a newline.
std::string format_tensor_cores(const Case& spec, const ops::Platform& platform);

// {"arch", "libraries", "verdict", "reason", "rule", "parts": {...}, ...}; for a network "nodes".
void write_tensor_cores(JsonWriter& writer, const Case& spec, const ops::Platform& platform);

// The shortest time that the ceilings permit for a case. nullopt without stored ceilings, or on
// another device than theirs. `memory`: of the prepared case, if it could be prepared.
std::optional<Roofline> compute_ideal(const Case& spec, const std::optional<MemoryUse>& memory,
                                      const Ceilings& ceilings);

// Lines that begin with "ceilings". The efficiency, which needs a time, is not shown.
std::string format_ideal(const Roofline& ideal);

}  // namespace bench
