// SPDX-License-Identifier: Apache-2.0
// Plans the gradients of layer_norm, rms_norm and group_norm.
#pragma once

#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/normalisation.hpp"
#include "ops/problem.hpp"

#include <string_view>

namespace bench::ops::cuda {

// The plan of a problem in a backward direction. `root` names the statistic whose root divides. The
// tensors of the form remain empty.
NativeForm norm_gradient_form(const Problem& problem, std::string_view root,
                              const NormParameterLayout& layout = {});

}  // namespace bench::ops::cuda
