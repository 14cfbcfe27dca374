// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/cuda_native.hpp"
#include "ops/cuda/kernels/device/row_kernel.cuh"

namespace bench::ops::cuda {

extern const DeviceKernel batch_norm_device_kernel;
const DeviceKernel batch_norm_device_kernel = {BatchNormPlan::kKernel, launch_rows<BatchNormPlan>};

}  // namespace bench::ops::cuda
