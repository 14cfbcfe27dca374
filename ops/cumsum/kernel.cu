// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/cumsum/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel cumsum_device_kernel;
const DeviceKernel cumsum_device_kernel = {CumsumPlan::kKernel, launch_rows<CumsumPlan>};

}  // namespace bench::ops::cuda
