// SPDX-License-Identifier: Apache-2.0
// The backend `cudnn` on device `cuda`: every operator except gemm, and networks. Native kernels
// (CUDA kernels of this project) run what cuDNN's graph API has no engine for. Their
// implementations are named "bench:...". Without cuDNN, the native kernels still run.
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
  // BackendError: cuDNN was not found. Problems that need cuDNN are unsupported for this reason.
  Result<std::shared_ptr<const CudnnApi>, BackendError> api;
  // Launches native kernels: make_device_launcher() on the runtime's stream.
  std::shared_ptr<Launcher> launcher;
  // Creates the kernels of a network's matrix products. If empty, networks that contain matrix
  // products are unsupported.
  ProductMaker products;
};

// Creates the backend. It has no memory() or tracer(); the device session provides them.
// BackendError (failed): cuDNN cannot create a handle on the device, with cuDNN's reason.
Result<std::unique_ptr<Backend>, BackendError> make_cudnn_backend(CudnnBackendParts parts);

}  // namespace bench::ops::cuda
