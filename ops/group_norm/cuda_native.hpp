// SPDX-License-Identifier: Apache-2.0
// The native kernel of group_norm and instance_norm. They differ in the size of a group only.
#pragma once

#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/normalisation.hpp"
#include "ops/problem.hpp"

namespace bench::ops::cuda {

// Returns the form of a norm over groups of channels, or of its gradients. `layout` has the number
// of groups of an image.
Result<NativeForm, BackendError> grouped_norm_form(const Problem& problem,
                                                   const NormParameterLayout& layout);

}  // namespace bench::ops::cuda
