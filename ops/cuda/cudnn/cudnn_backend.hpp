// SPDX-License-Identifier: Apache-2.0
// The backend `cudnn` on device `cuda`: every operator but gemm, and networks. What cuDNN's graph
// API has no engine for runs by kernels of our own, whose implementation says so ("bench:..."), and
// so do those of them that need no cuDNN where it is not there.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/problem_kernels.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <memory>

namespace bench::ops::cuda {

struct CudnnBackendParts {
  DeviceParts device;
  // Refusal: cuDNN is not there. What needs it is refused for this reason.
  Result<std::shared_ptr<const CudnnApi>, Refusal> api;
  // Of our own kernels: make_device_launcher() on the runtime's stream.
  std::shared_ptr<Launcher> launcher;
  // Makes the kernels of the matrix products of networks; empty: networks with one are refused.
  ProductMaker products;
};

// It has no memory() and no tracer() of its own: they are the device session's. Refusal (failed):
// cuDNN makes no handle on the device, with its reason.
Result<std::unique_ptr<Backend>, Refusal> make_cudnn_backend(CudnnBackendParts parts);

}  // namespace bench::ops::cuda
