// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/row_kernel.cuh"
#include "ops/cuda/kernels/pieces.hpp"

namespace bench::ops::cuda {

extern const DeviceKernel pieces_device_kernel;
const DeviceKernel pieces_device_kernel = {PiecesPlan::kKernel, launch_any_rows<PiecesPlan>};

}  // namespace bench::ops::cuda
