// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/math/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel math_device_kernel;
const DeviceKernel math_device_kernel = {MathPlan::kKernel, launch_any_rows<MathPlan>};

}  // namespace bench::ops::cuda
