// SPDX-License-Identifier: Apache-2.0
// Reads files that define the work of operators unknown to this program, as expressions over their
// profiled attributes (docs/analyze.md).
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "profiler/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns a function that computes each activity's work. It first calls `built_in`, the function
// for built-in operators. If that returns nullopt, it looks up the activity's attribute `op` in the
// file. If the activity has no `op`, it looks up the activity's name. Expressions can use the
// activity's integer attributes, the tokens of its `parameters` ("n32c64" has n and c), and
// in_elements and out_elements, computed from its shapes. The function returns nullopt if an
// expression uses an unknown name. On errors, returns all problems of the file with their
// locations.
Result<WorkProvider, std::vector<Diagnostic>> read_work_file(std::string_view text,
                                                             const std::string& file,
                                                             WorkProvider built_in);

}  // namespace bench
