// SPDX-License-Identifier: Apache-2.0
// Problems from calls of a framework that tell all their arguments, as PyProf's markers do: with
// strides, paddings and data types there is nothing left to leave open.
#pragma once

#include "ops/problem.hpp"
#include "profiler/capture/framework_range.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {

// conv1d to conv3d, max_pool and avg_pool of 1-D to 3-D, batch_norm that does not train. Absent for
// other operators, and where arguments are missing, of another form, or ask for what the operator
// does not have (rounding up, dilated pooling).
std::optional<ProblemRequest> request_of_arguments(std::string_view name,
                                                   const std::vector<FrameworkArgument>& arguments);

// Of all tensors; absent where they differ, or it is none of floating point that we have.
std::optional<DataType> dtype_of_arguments(const std::vector<FrameworkArgument>& arguments);

}  // namespace bench::ops
