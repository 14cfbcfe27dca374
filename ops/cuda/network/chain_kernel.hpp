// SPDX-License-Identifier: Apache-2.0
// The kernel that executes a chain.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/network/kernel_chain.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// Who owns the buffers between the steps. activations: the caller of bind(), as for a network.
// workspace: the kernel itself, as for a problem.
enum class Between { activations, workspace };

// Refusal (skipped): not enough memory for the workspace.
Result<std::unique_ptr<Kernel>, Refusal> make_chain_kernel(DeviceParts parts, KernelChain chain,
                                                           Between between);

}  // namespace bench::ops::cuda
