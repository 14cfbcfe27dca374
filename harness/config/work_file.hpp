// SPDX-License-Identifier: Apache-2.0
// Work of operators that this program does not know, as expressions over what a profile says of
// them (docs/analyze.md).
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "profiler/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What gives each activity its work: `known` first, then the file's operator of the activity's
// attribute `op`, else of its name. Names in expressions are the activity's integer attributes, the
// tokens of its `parameters` ("n32c64" has n and c), and in_elements, out_elements of its shapes.
// Absent where a name is unknown. Errors: everything wrong with the file, at its place.
Result<WorkOf, std::vector<Diagnostic>> read_work_file(std::string_view text,
                                                       const std::string& file, WorkOf known);

}  // namespace bench
