// SPDX-License-Identifier: Apache-2.0
// Computes the work of a row of PyProf's table (profiler/readers/pyprof.cpp) from the row's
// parameters, with this program's work model. PyProf's own formulas are wrong for some operators.
// PyProf also uses a list of kernel names to assign work to rows, and this list ends before Hopper.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/work_sink.hpp"

#include <optional>

namespace bench::ops {

// Supports convolutions of one group, matrix products, and in the forward direction elementwise
// operators and the kernels of a batch norm, each of which has its part of the work. Bytes require
// the data type. If the parameters were truncated before the number of groups, one group is
// assumed. Returns nullopt for other rows, or if a parameter is missing or truncated. Also returns
// nullopt for kernels that do not do the operator's arithmetic. These are kernels to which PyProf
// assigned 0 FLOPs, or none while the name is not that of a product or elementwise kernel.
std::optional<ActivityWork> compute_pyprof_work(const Activity& activity);
// The same with the operator of this program that computes the row, and its parameters.
std::optional<FrameworkWork> find_pyprof_work(const Activity& activity);

}  // namespace bench::ops
