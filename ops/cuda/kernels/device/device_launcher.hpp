// SPDX-License-Identifier: Apache-2.0
// Launches native kernels on a runtime's stream.
#pragma once

#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <memory>

namespace bench::ops::cuda {

std::shared_ptr<Launcher> make_device_launcher(std::shared_ptr<Runtime> runtime);

}  // namespace bench::ops::cuda
