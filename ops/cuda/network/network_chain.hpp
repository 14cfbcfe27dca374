// SPDX-License-Identifier: Apache-2.0
// A network as a chain of kernels on one stream: which layouts its results have, where reorders
// stand, which memory is shared. Makes kernels and touches no device itself.
//
// One layout for all images where the kernels have it: nhwc for types that tensor cores take
// (narrow ones, and f32 as TF32), nchw for others. A layer that has no kernel in it runs in the
// other one, between reorders; each result is reordered once for each layout. The network's input
// and output are plain row-major, and so is what is read under other sizes (a matrix product behind
// images).
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/network/kernel_chain.hpp"
#include "ops/network/network.hpp"

#include <functional>
#include <memory>

namespace bench::ops::cuda {

using ReorderMaker = std::function<Result<std::unique_ptr<Kernel>, Refusal>(
    const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to)>;

MemoryLayout network_layout(const Network& network);

// Refusal: a layer without a kernel, by its name.
Result<KernelChain, Refusal> build_network_chain(const Network& network, const KernelMaker& maker,
                                                 const ReorderMaker& reorder);

}  // namespace bench::ops::cuda
