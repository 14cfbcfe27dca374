// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/layer_norm/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel layer_norm_device_kernel;
const DeviceKernel layer_norm_device_kernel = {LayerNormPlan::kKernel, launch_rows<LayerNormPlan>};

}  // namespace bench::ops::cuda
