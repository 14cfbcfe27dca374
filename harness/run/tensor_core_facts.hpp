// SPDX-License-Identifier: Apache-2.0
// Whether tensor cores can run a case on this run's device, according to the rules
// (ops/tensor_core/eligibility.hpp), as details of a case record.
#pragma once

#include "harness/config/plan.hpp"

#include <map>
#include <string>
#include <string_view>

namespace bench {

// Returns "tensor_cores.arch" ("sm_90, cuda13"), "tensor_cores.eligible", "tensor_cores.reason",
// "tensor_cores.rule", "tensor_cores.alignment". For a network it states how many of its products
// are eligible; the reason lists the others. `capability`: the device's, such as "9.0"; if the
// rules do not know it, only the reason is returned. Empty if the case runs on a backend without
// such rules.
std::map<std::string, std::string> tensor_core_details(const Case& spec,
                                                       std::string_view capability);

}  // namespace bench
