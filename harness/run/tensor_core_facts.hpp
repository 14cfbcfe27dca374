// SPDX-License-Identifier: Apache-2.0
// Whether tensor cores may serve a case on the device of this run, by rules alone (ops/tensor_core/
// eligibility.hpp), in the words of a case record's details.
#pragma once

#include "harness/config/plan.hpp"

#include <map>
#include <string>
#include <string_view>

namespace bench {

// "tensor_cores.arch" ("sm_90, cuda13"), "tensor_cores.eligible", "tensor_cores.reason",
// "tensor_cores.rule", "tensor_cores.alignment"; of a network how many of its products are
// eligible, and as the reason those that are not. `capability` is the device's, "9.0": of one that
// the rules do not know only the reason is there. Empty: the case runs on none of the backends that
// the rules are about.
std::map<std::string, std::string> tensor_core_details(const Case& spec,
                                                       std::string_view capability);

}  // namespace bench
