// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/cuda/kernels/norm_gradient.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel norm_gradient_device_kernel;
const DeviceKernel norm_gradient_device_kernel = {NormGradientPlan::kKernel,
                                                  launch_rows<NormGradientPlan>};

}  // namespace bench::ops::cuda
