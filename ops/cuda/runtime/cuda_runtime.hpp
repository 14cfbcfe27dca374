// SPDX-License-Identifier: Apache-2.0
// The Runtime on CUDA's runtime API. It uses device 0 of those that CUDA_VISIBLE_DEVICES leaves
// visible. Only the plugin links it.
#pragma once

#include "ops/cuda/runtime/runtime.hpp"

#include <memory>

namespace bench::ops::cuda {

// Creates the device's context, which is the first step that needs the driver, and a stream that
// does not wait for the default stream. Records the setup "context". BackendError (failed): the
// reason is CUDA's.
Result<std::shared_ptr<Runtime>, BackendError> make_cuda_runtime();

}  // namespace bench::ops::cuda
