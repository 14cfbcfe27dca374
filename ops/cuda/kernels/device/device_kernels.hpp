// SPDX-License-Identifier: Apache-2.0
// The native kernels on a CUDA stream, compiled by nvcc (C++17): each is one `extern const
// DeviceKernel <name>_device_kernel`. Those of several operators are in this folder, an operator's
// own one is in ops/<op>/kernel.cu. The table device_kernels() is generated from ops/CMakeLists.txt
// (the word `kernel`) and from this folder.
#pragma once

#include "ops/cuda/kernels/own_plan.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cuda_runtime_api.h>

namespace bench::ops::cuda {

struct DeviceKernel {
  const char* kernel;  // Plan::kKernel
  // Enqueues one launch, or none if there are no elements. Returns the launch's error and does not
  // wait.
  cudaError_t (*launch)(cudaStream_t stream, const OwnPlan& plan, const Addresses& tensors);
};

}  // namespace bench::ops::cuda
