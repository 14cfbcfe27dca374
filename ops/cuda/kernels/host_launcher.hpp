// SPDX-License-Identifier: Apache-2.0
// Our own kernels on the CPU, by the device's element functions: for tests, and for whoever holds
// memory that both sides see. Slow.
#pragma once

#include "ops/cuda/kernels/launcher.hpp"

namespace bench::ops::cuda {

class HostLauncher final : public Launcher {
 public:
  Status launch(const OwnPlan& plan, std::span<void* const> tensors) override;
};

}  // namespace bench::ops::cuda
