// SPDX-License-Identifier: Apache-2.0
// Where our own kernels run: on a device's stream (device_launcher.hpp), or on the CPU, where tests
// run the same element functions (host_launcher.hpp).
#pragma once

#include "base/result.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <span>

namespace bench::ops::cuda {

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Puts one execution on the stream; does not wait. `tensors` are the addresses that the plan's
  // operand numbers mean. Error: the launch failed.
  virtual Status launch(const OwnPlan& plan, std::span<void* const> tensors) = 0;
};

}  // namespace bench::ops::cuda
