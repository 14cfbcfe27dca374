// SPDX-License-Identifier: Apache-2.0
// Work of a framework's operators, computed with this program's work model from NVTX ranges
// (profiler/nvtx/framework_range.hpp). A range of emit_nvtx contains only the shapes of inputs:
// no strides, paddings, windows, flags or data types. What depends on them stays unknown, unless
// PyProf's marker around the call contains all arguments.
#pragma once

#include "ops/tensor_core/architecture.hpp"
#include "profiler/nvtx/framework_range.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {

// Returns nullopt if the call is not understood, or if its shapes do not fit together or do not
// determine the work:
//   convolutions need the result's shape (transposed ones only with a bias); max pooling never has
//   its window; a forward batch norm trains for certain only without running statistics; GELU does
//   not record its variant.
// A backward convolution has the work of each gradient that it computes.
// Scalar arguments ("alpha" of an addition, "beta" of a product) add no work. For calls with
// a known data type, `platform` determines whether tensor cores may be used.
std::optional<FrameworkWork> compute_framework_work(const FrameworkCall& call,
                                                    const std::optional<Platform>& platform = {});

// The same, with a cache of earlier results. Not thread-safe.
FrameworkWorkProvider make_framework_work_provider(const std::optional<Platform>& platform = {});

// The same, but `parameters` are the case_parameters. For imports, whose cases are dense anyway.
FrameworkWorkProvider make_framework_case_provider();

// The names of the supported operators, without "aten::" and the '_' of in-place variants.
std::vector<std::string_view> framework_operator_names();

}  // namespace bench::ops
