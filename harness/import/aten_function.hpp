// SPDX-License-Identifier: Apache-2.0
// Functions of PyTorch (`aten.mm.default`) with all their arguments, as cases: one row each.
#pragma once

#include "base/python_value.hpp"
#include "base/result.hpp"
#include "ops/problem.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace bench {

// Returns the cases that a call computes, one per gradient. `name` is without "aten.", the overload
// and the '_' of in-place functions: "mm". Error: `what` states what a case cannot express.
Result<std::vector<ops::ProblemRequest>> request_aten_call(std::string_view name,
                                                           std::span<const PythonValue> arguments);

// Whether a function only describes or allocates a tensor, and computes nothing.
bool is_aten_view(std::string_view name);

}  // namespace bench
