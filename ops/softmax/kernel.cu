// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/softmax/cuda_native.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel softmax_device_kernel;
const DeviceKernel softmax_device_kernel = {SoftmaxPlan::kKernel, launch_rows<SoftmaxPlan>};

}  // namespace bench::ops::cuda
