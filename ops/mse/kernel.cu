// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/mse/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel mse_device_kernel;
const DeviceKernel mse_device_kernel = {MsePlan::kKernel, launch_rows<MsePlan>};

}  // namespace bench::ops::cuda
