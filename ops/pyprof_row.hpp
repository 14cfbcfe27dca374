// SPDX-License-Identifier: Apache-2.0
// Work of a row of PyProf's table (profiler/readers/pyprof.cpp) from the parameters that stand in
// it, by the one work model. PyProf's own formulas are wrong for some operators, and its list of
// kernel names, by which it gives work to rows, ends before Hopper.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/reader.hpp"

#include <optional>

namespace bench::ops {

// Of convolutions of one group, products of matrices and elementwise operators, the latter in the
// forward direction only. Bytes need the data type. Where the parameters were cut before the number
// of groups, it is one. Absent for other rows, where a parameter is missing or was cut off, and for
// kernels that do not do the operator's arithmetic: PyProf gave them 0, or nothing, and their name
// does not tell that they do.
std::optional<ActivityWork> work_of_pyprof_row(const Activity& activity);

}  // namespace bench::ops
