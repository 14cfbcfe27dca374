// SPDX-License-Identifier: Apache-2.0
// The native kernels on a CUDA stream, compiled by nvcc (C++17). Each function enqueues one launch,
// or none if there are no elements. It returns the launch's error and does not wait.
#pragma once

#include "ops/cuda/kernels/plans.hpp"

#include <cuda_runtime_api.h>

namespace bench::ops::cuda {

cudaError_t launch_elementwise(cudaStream_t stream, const ElementwisePlan& plan,
                               const Addresses& tensors);
cudaError_t launch_transpose(cudaStream_t stream, const TransposePlan& plan,
                             const Addresses& tensors);
cudaError_t launch_softmax(cudaStream_t stream, const SoftmaxPlan& plan, const Addresses& tensors);
cudaError_t launch_channel_sum(cudaStream_t stream, const ChannelSumPlan& plan,
                               const Addresses& tensors);

}  // namespace bench::ops::cuda
