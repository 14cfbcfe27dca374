// SPDX-License-Identifier: Apache-2.0
// All native kernels of the plugin, and the launcher that runs them on a runtime's stream. This
// header is separate from device_kernels.hpp, because nvcc has no std::span.
#pragma once

#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace bench::ops::cuda {

std::shared_ptr<Launcher> make_device_launcher(std::shared_ptr<Runtime> runtime);

std::span<const DeviceKernel* const> device_kernels();
// Returns nullptr if no kernel has the name.
const DeviceKernel* find_device_kernel(std::string_view name);

}  // namespace bench::ops::cuda
