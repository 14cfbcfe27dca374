// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/loss/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel loss_device_kernel;
const DeviceKernel loss_device_kernel = {LossPlan::kKernel, launch_rows<LossPlan>};

}  // namespace bench::ops::cuda
