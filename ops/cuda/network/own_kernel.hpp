// SPDX-License-Identifier: Apache-2.0
// Wraps one launch of a native kernel (a CUDA kernel of this project) as a Kernel.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/kernels/own_forms.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <memory>
#include <span>

namespace bench::ops::cuda {

// `roles` are the roles of the form's tensors, in their order.
std::unique_ptr<Kernel> make_own_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                        OwnForm form, std::span<const BufferRole> roles);
// For a form whose tensors are the problem's.
std::unique_ptr<Kernel> make_own_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                        OwnForm form, const Problem& problem);

}  // namespace bench::ops::cuda
