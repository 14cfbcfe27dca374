// SPDX-License-Identifier: Apache-2.0
// Runs native kernels on the CPU with the device's element functions. For tests, and for memory
// that host and device both address. Slow.
#pragma once

#include "ops/cuda/kernels/launcher.hpp"

namespace bench::ops::cuda {

class HostLauncher final : public Launcher {
 public:
  Status launch(const OwnPlan& plan, std::span<void* const> tensors) override;
};

}  // namespace bench::ops::cuda
