// SPDX-License-Identifier: Apache-2.0
// Plans a network as a chain of kernels on one stream: the layouts of its results, and where
// reorders are inserted. It creates kernels but does not use a device itself.
//
// One layout serves all images if the kernels support it. It is nhwc for types that tensor cores
// accept (narrow types, and f32 as TF32) and nchw for others, and for networks without operators on
// images. A layer without a kernel in that
// layout runs in the other one, between reorders. Each result is reordered at most once per layout.
// The network's outputs are plain row-major, and so are its inputs unless Network::input_layout is
// nhwc. A result is also plain row-major if a later layer reads it with different sizes (a matrix
// product after a convolution).
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/network/kernel_chain.hpp"
#include "ops/network/network.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bench::ops::cuda {

// Creates the kernel that converts a tensor from one layout to another.
using ReorderMaker = std::function<Result<std::unique_ptr<Kernel>, BackendError>(
    const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to)>;

// Returns the layout that serves the network's images: nhwc or plain.
MemoryLayout network_layout(const Network& network);

// Returns the problem of each layer as its kernel is asked for first: images in the network's
// layout.
std::vector<Problem> preferred_problems(const Network& network);

// BackendError: a layer has no kernel; the reason names the layer.
Result<KernelChain, BackendError> build_network_chain(const Network& network,
                                                      const KernelMaker& maker,
                                                      const ReorderMaker& reorder);

}  // namespace bench::ops::cuda
