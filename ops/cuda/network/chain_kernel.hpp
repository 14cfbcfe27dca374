// SPDX-License-Identifier: Apache-2.0
// The kernel of a chain.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/network/kernel_chain.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// Whose the buffers between the steps are: of whoever binds, as a network's activations, or the
// kernel's own, as a problem's workspace.
enum class Between { activations, workspace };

// Refusal (skipped): no memory for the workspace.
Result<std::unique_ptr<Kernel>, Refusal> make_chain_kernel(DeviceParts parts, KernelChain chain,
                                                           Between between);

}  // namespace bench::ops::cuda
