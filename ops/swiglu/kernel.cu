// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/swiglu/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel swiglu_device_kernel;
const DeviceKernel swiglu_device_kernel = {SwigluPlan::kKernel, launch_rows<SwigluPlan>};

}  // namespace bench::ops::cuda
