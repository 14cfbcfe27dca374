// SPDX-License-Identifier: Apache-2.0
// A grouped product on a device: one call of the library per group, all on the device's stream.
#pragma once

#include "ops/backend/grouped_parts.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <memory>

namespace bench::ops::cuda {

// The kernels of the parts must be CudaKernels of the same device.
std::unique_ptr<Kernel> make_grouped_kernel(const DeviceParts& device, GroupedParts parts);

}  // namespace bench::ops::cuda
