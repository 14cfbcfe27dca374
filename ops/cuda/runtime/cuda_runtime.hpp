// SPDX-License-Identifier: Apache-2.0
// Runtime on CUDA's runtime API: device 0 of those that CUDA_VISIBLE_DEVICES leaves. Linked by the
// plugin alone.
#pragma once

#include "ops/cuda/runtime/runtime.hpp"

#include <memory>

namespace bench::ops::cuda {

// Makes the device's context, which is the first that needs the driver, and a stream that does not
// wait for the default one; notes the setup "context". Refusal (failed): CUDA says why not.
Result<std::shared_ptr<Runtime>, Refusal> make_cuda_runtime();

}  // namespace bench::ops::cuda
