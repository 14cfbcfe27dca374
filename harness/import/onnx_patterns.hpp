// SPDX-License-Identifier: Apache-2.0
// Finds what exporters write as several nodes although an operator computes it: GELU, swish, norms,
// biases, padding.
#pragma once

#include "harness/import/onnx_model.hpp"

#include <string_view>
#include <vector>

namespace bench::onnx {

// Replaces each such group of nodes by one, whose `covered` is their number. The results of the
// model stay the same.
void join_patterns(Model& model);

// Returns the operators at which it looks for groups.
std::vector<std::string_view> pattern_starts();

}  // namespace bench::onnx
