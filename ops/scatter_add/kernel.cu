// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/scatter_add/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel scatter_add_device_kernel;
const DeviceKernel scatter_add_device_kernel = {ScatterAddPlan::kKernel,
                                                launch_rows<ScatterAddPlan>};

}  // namespace bench::ops::cuda
