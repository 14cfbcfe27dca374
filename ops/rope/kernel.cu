// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/rope/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel rope_device_kernel;
const DeviceKernel rope_device_kernel = {RopePlan::kKernel, launch_rows<RopePlan>};

}  // namespace bench::ops::cuda
