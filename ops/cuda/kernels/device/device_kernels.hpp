// SPDX-License-Identifier: Apache-2.0
// Native kernels that run on a CUDA stream, compiled by nvcc (C++17). Each source file defines one
// `extern const DeviceKernel <name>_device_kernel`. This folder contains kernels that several
// operators share. A kernel of a single operator is in ops/<op>/kernel.cu. CMake generates the
// table device_kernels() from this folder and from the operators with the word `kernel` in
// ops/CMakeLists.txt.
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
