// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/reduction/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel reduction_device_kernel;
const DeviceKernel reduction_device_kernel = {ReductionPlan::kKernel, launch_rows<ReductionPlan>};

}  // namespace bench::ops::cuda
