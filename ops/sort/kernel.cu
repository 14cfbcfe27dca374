// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/sort/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel sort_device_kernel;
const DeviceKernel sort_device_kernel = {SortPlan::kKernel, launch_rows<SortPlan>};

}  // namespace bench::ops::cuda
