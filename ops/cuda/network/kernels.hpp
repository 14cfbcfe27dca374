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

// Appends the native kernel of bias and post-ops (epilogue_form()) to the kernel `first` of the
// same problem without them, whose result has the type `intermediate_dtype`. The native kernel
// works in place if that is the output's type. BackendError: there is no native kernel for a
// post-op; `first` is unchanged then.
Result<std::unique_ptr<Kernel>, BackendError> append_epilogue(
    const DeviceParts& parts, const std::shared_ptr<Launcher>& launcher,
    std::unique_ptr<Kernel>& first, const Problem& problem, DataType intermediate_dtype);

}  // namespace bench::ops::cuda
