// SPDX-License-Identifier: Apache-2.0
// Work of operators that this program does not know, as expressions over their profiled attributes
// (docs/analyze.md).
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "profiler/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns a function that computes each activity's work. It tries `known` first. Then it looks up
// the activity's attribute `op`, or its name without that attribute, in the file. Names in
// expressions are the activity's integer attributes, tokens of its `parameters` ("n32c64" has n and
// c), and in_elements and out_elements of its shapes. The function returns nullopt if a name is
// unknown. Errors: everything wrong with the file, with its location.
Result<WorkOf, std::vector<Diagnostic>> read_work_file(std::string_view text,
                                                       const std::string& file, WorkOf known);

}  // namespace bench
