// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/dropout/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel dropout_device_kernel;
const DeviceKernel dropout_device_kernel = {DropoutPlan::kKernel, launch_rows<DropoutPlan>};

}  // namespace bench::ops::cuda
