// SPDX-License-Identifier: Apache-2.0
// Kernels that networks use on a GPU: one launch of a native kernel, and a chain of kernels.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/network/kernel_chain.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace bench::ops::cuda {

// Wraps one launch of a native kernel (a CUDA kernel of this project) as a Kernel. `roles` are the
// roles of the form's tensors, in their order.
std::unique_ptr<Kernel> make_native_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                           NativeForm form, std::span<const BufferRole> roles);
// The same for a form whose tensors are those of `problem`.
std::unique_ptr<Kernel> make_native_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                           NativeForm form, const Problem& problem);

// Who owns the buffers between the steps of a chain. activations: the caller of bind(), as for a
// network. workspace: the kernel itself, as for a problem.
enum class IntermediateStorage { activations, workspace };

// Creates the kernel that executes a chain. BackendError (skipped): not enough memory for the
// workspace.
Result<std::unique_ptr<Kernel>, BackendError> make_chain_kernel(DeviceParts parts,
                                                                KernelChain chain,
                                                                IntermediateStorage storage);

}  // namespace bench::ops::cuda
