// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/slice/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel slice_device_kernel;
const DeviceKernel slice_device_kernel = {SlicePlan::kKernel, launch_any_rows<SlicePlan>};

}  // namespace bench::ops::cuda
