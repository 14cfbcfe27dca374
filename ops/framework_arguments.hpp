// SPDX-License-Identifier: Apache-2.0
// Derives problems from framework calls that record all their arguments, as PyProf's markers do.
// With strides, paddings and data types the problem is fully determined.
#pragma once

#include "ops/problem.hpp"
#include "profiler/capture/framework_range.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {

// Accepts conv1d to conv3d, max_pool and avg_pool in 1-D to 3-D, and batch_norm without training.
// Returns nullopt for other operators and for missing or malformed arguments. Also returns nullopt
// for options that the operator does not have (rounding up, dilated pooling).
std::optional<ProblemRequest> request_of_arguments(std::string_view name,
                                                   const std::vector<FrameworkArgument>& arguments);

// Returns the data type of all tensors, or nullopt if they differ or it is not a supported
// floating-point type.
std::optional<DataType> dtype_of_arguments(const std::vector<FrameworkArgument>& arguments);

}  // namespace bench::ops
