// SPDX-License-Identifier: Apache-2.0
// The kernel of a network: a chain of primitives with its memory.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"
#include "ops/onednn/chain.hpp"
#include "ops/onednn/context.hpp"

#include <memory>

namespace bench::ops {

// Allocates the scratchpad and throws std::bad_alloc. `context` must outlive the kernel.
std::unique_ptr<Kernel> make_network_kernel(const OnednnContext& context, const Network& network,
                                            Chain chain);

}  // namespace bench::ops
