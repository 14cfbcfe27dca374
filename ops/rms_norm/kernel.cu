// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/rms_norm/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel rms_norm_device_kernel;
const DeviceKernel rms_norm_device_kernel = {RmsNormPlan::kKernel, launch_rows<RmsNormPlan>};

}  // namespace bench::ops::cuda
