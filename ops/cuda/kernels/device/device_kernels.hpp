// SPDX-License-Identifier: Apache-2.0
// The native kernels on a CUDA stream, compiled by nvcc (C++17). Each defines one `extern const
// DeviceKernel <name>_device_kernel`. Kernels that several operators share are in this folder. A
// kernel of a single operator is in ops/<op>/kernel.cu. CMake generates the table device_kernels()
// from this folder and from the operators with the word `kernel` in ops/CMakeLists.txt.
#pragma once

#include "ops/cuda/kernels/native_plan.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cuda_runtime_api.h>

namespace bench::ops::cuda {

struct DeviceKernel {
  const char* name;  // Plan::kKernel
  // Enqueues one launch, or none if there are no elements. Returns the launch's error and does not
  // wait.
  cudaError_t (*launch)(cudaStream_t stream, const NativePlan& plan, const Addresses& tensors);
};

}  // namespace bench::ops::cuda
