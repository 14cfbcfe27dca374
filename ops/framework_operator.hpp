// SPDX-License-Identifier: Apache-2.0
// Work of a framework's operators, as their NVTX ranges tell of them (profiler/capture/
// framework_range.hpp), by the one work model. A range of emit_nvtx tells shapes of inputs and
// nothing else: strides, paddings, windows, flags and data types are not there. What they decide
// stays unknown, unless PyProf's marker around the call tells all arguments.
#pragma once

#include "ops/tensor_core/architecture.hpp"
#include "profiler/capture/framework_range.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {

// Absent for what is not understood, and where the shapes do not fit together or do not decide it:
//   convolutions need the result's shape (transposed ones only with a bias); max pooling never has
//   its window; batch norm does not say whether it trains, GELU not which one it is.
// Scalars beside tensors ("alpha" of an addition, "beta" of a product) count nothing. Whether
// tensor cores may be used is asked for `platform`, of calls whose data type is told.
std::optional<FrameworkWork> work_of_framework_call(const FrameworkCall& call,
                                                    const std::optional<Platform>& platform = {});

// The same, remembering what it has worked out. Not thread-safe.
FrameworkWorkOf make_framework_work_of(const std::optional<Platform>& platform = {});

// Names of the operators that are understood, without "aten::" and the '_' of in-place ones.
std::vector<std::string_view> framework_operator_names();

}  // namespace bench::ops
