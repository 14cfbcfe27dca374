// SPDX-License-Identifier: Apache-2.0
// Adapts a plugin's kernel to this program's interface.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/plugin/host.hpp"

#include <memory>
#include <span>
#include <string>

namespace bench::ops {

// The host and the memory that a kernel uses. Both must outlive it. `memory` is the backend's;
// null: host memory.
struct KernelPlace {
  Host& host;
  DeviceMemory* memory;
};

// Takes ownership: the kernel is destroyed with the result, or here on error. Error: its
// description violates the interface or contradicts `tensors`. `what` continues the sentence "the
// kernel ...".
Result<std::unique_ptr<Kernel>> take_kernel(const bench_kernel& raw,
                                            std::span<const Tensor> tensors,
                                            const KernelPlace& context);

}  // namespace bench::ops
