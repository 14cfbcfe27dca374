// SPDX-License-Identifier: Apache-2.0
// Computes the work of a row of PyProf's table (profiler/readers/pyprof.cpp) from the row's
// parameters, with this program's work model. PyProf's own formulas are wrong for some operators.
// It assigns work to rows with a list of kernel names, which ends before Hopper.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/reader.hpp"

#include <optional>

namespace bench::ops {

// Supports convolutions of one group, matrix products and elementwise operators, the latter only in
// the forward direction. Bytes require the data type. If the parameters were truncated before the
// number of groups, it is assumed to be one. Returns nullopt for other rows, or if a parameter is
// missing or truncated. Also returns nullopt for kernels that do not do the operator's arithmetic:
// PyProf assigned them 0 or nothing, and their names do not show that they do.
std::optional<ActivityWork> compute_pyprof_work(const Activity& activity);

}  // namespace bench::ops
