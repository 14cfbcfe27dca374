// SPDX-License-Identifier: Apache-2.0
// Reads work files (docs/analyze.md). Such a file defines the work of operators that this program
// does not have, as expressions over attributes in profiles.
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "profiler/work_sink.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns a function that computes the work of an activity, or all errors of the file. The function
// first calls `built_in`, which computes the work of built-in operators. If `built_in` returns
// nullopt, the function looks up the activity's attribute `op` in the file, or its name if it has
// no `op`. Expressions can use the activity's integer attributes and the tokens of its `parameters`
// ("n32c64" has n and c). They can also use in_elements and out_elements, computed from its shapes.
//
// The function does not use the file if the profile states the activity's work (given_flops,
// given_bytes). It returns nullopt if no source knows the work, or if an expression is negative or
// uses an unknown name.
Result<WorkProvider, std::vector<Diagnostic>> read_work_file(std::string_view text,
                                                             const std::string& file,
                                                             WorkProvider built_in);

}  // namespace bench
