// SPDX-License-Identifier: Apache-2.0
// A plugin's kernel as one of this program's.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"
#include "ops/plugin/host.hpp"

#include <memory>
#include <span>
#include <string>

namespace bench::ops {

// Who the kernel works with; both outlive it. `memory` is the backend's, null: the host's.
struct KernelPlace {
  Host& host;
  DeviceMemory* memory;
};

// Takes it over: it is destroyed with the result, or here. Error: what it says of itself
// contradicts the interface or `tensors`; `what` goes on behind "the kernel ...".
Result<std::unique_ptr<Kernel>> take_kernel(const bench_kernel& raw,
                                            std::span<const Tensor> tensors,
                                            const KernelPlace& place);

// What an invocation of such a kernel is in the plugin.
const bench_invocation& plugin_invocation(const Invocation& invocation);

}  // namespace bench::ops
