// SPDX-License-Identifier: Apache-2.0
// Launches native kernels on a device's stream (device_launcher.hpp) or on the CPU (HostLauncher).
#pragma once

#include "base/result.hpp"
#include "ops/cuda/kernels/native_plan.hpp"

#include <span>

namespace bench::ops::cuda {

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Enqueues one execution on the stream and does not wait. `tensors` are the addresses of the
  // plan's tensors, by number. Error: the launch failed.
  virtual Status launch(const NativePlan& plan, std::span<void* const> tensors) = 0;
};

// Runs native kernels on the CPU with the device's element functions. For tests, and for memory
// that host and device both address. Slow.
class HostLauncher final : public Launcher {
 public:
  Status launch(const NativePlan& plan, std::span<void* const> tensors) override;
};

}  // namespace bench::ops::cuda
