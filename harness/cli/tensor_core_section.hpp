// SPDX-License-Identifier: Apache-2.0
// What `explain --arch` says of tensor cores: the verdict of the rules (ops/tensor_core/) on a
// case, for people and as JSON.
#pragma once

#include "harness/config/plan.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace bench {

// Of one operator its parts with reasons and rules; of a network one line for each convolution and
// product. Begins with "tensor cores" and ends in a newline.
std::string tensor_core_text(const Case& spec, const ops::Platform& platform);

// {"arch", "libraries", "verdict", "reason", "rule", "parts": {...}, ...}; of a network "nodes".
nlohmann::ordered_json tensor_core_json(const Case& spec, const ops::Platform& platform);

}  // namespace bench
