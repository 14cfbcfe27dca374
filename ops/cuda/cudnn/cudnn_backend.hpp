// SPDX-License-Identifier: Apache-2.0
// The backend `cudnn` on device `cuda`: every operator except gemm, and networks. Native kernels
// (CUDA kernels of this project) run what cuDNN's graph API has no engine for; their implementation
// is named "bench:...". Without cuDNN, native kernels that do not need it still run.
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
  // BackendError: cuDNN was not found. Problems that need it are refused for this reason.
  Result<std::shared_ptr<const CudnnApi>, BackendError> api;
  // Launches native kernels: make_device_launcher() on the runtime's stream.
  std::shared_ptr<Launcher> launcher;
  // Creates the kernels of a network's matrix products. Empty: networks that contain one are
  // refused.
  ProductMaker products;
};

// The backend has no memory() or tracer(); the device session provides them. BackendError (failed):
// cuDNN creates no handle on the device; the reason is cuDNN's.
Result<std::unique_ptr<Backend>, BackendError> make_cudnn_backend(CudnnBackendParts parts);

}  // namespace bench::ops::cuda
