// SPDX-License-Identifier: Apache-2.0
// The section on tensor cores of `explain --arch`: the verdict of the rules (ops/tensor_core/) on a
// case, as human-readable text and as JSON.
#pragma once

#include "base/json_writer.hpp"
#include "harness/config/plan.hpp"
#include "ops/tensor_core/architecture.hpp"

#include <string>

namespace bench {

// For an operator: its parts with reasons and rules. For a network: one line per convolution and
// product. Begins with "tensor cores" and ends in a newline.
std::string tensor_core_text(const Case& spec, const ops::Platform& platform);

// {"arch", "libraries", "verdict", "reason", "rule", "parts": {...}, ...}; for a network "nodes".
void write_tensor_cores(JsonWriter& writer, const Case& spec, const ops::Platform& platform);

}  // namespace bench
