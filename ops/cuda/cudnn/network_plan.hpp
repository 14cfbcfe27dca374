// SPDX-License-Identifier: Apache-2.0
// Plans how a network runs on a device that this machine does not have: the kernel of each layer,
// its layouts, and the reorders between layers. cuDNN answers for the described device.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/network/network.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Returns the steps in order. A layer that can run in several ways has the default, as a device
// starts with it: the choice by measurement needs a device. cuBLASLt chooses the algorithms of
// matrix products on the device only. `device_json` is cuDNN's description of the device.
// BackendError: a layer has no kernel; the reason names the layer.
Result<std::vector<KernelStep>, BackendError> plan_network(
    const std::shared_ptr<const CudnnApi>& api, const Network& network,
    std::string_view device_json);

// Formats steps as aligned lines: "conv1  conv  cudnn:engine_32  nhwc -> nhwc, weights nhwc".
std::string format_plan(const std::vector<KernelStep>& steps);

}  // namespace bench::ops::cuda
