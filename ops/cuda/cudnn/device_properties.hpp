// SPDX-License-Identifier: Apache-2.0
// Reads cuDNN's own description of a device: the JSON with which planned_engines() plans for that
// device on other machines.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"

#include <memory>
#include <string>

namespace bench::ops::cuda {

// Reads the description of CUDA runtime device number `device`. Error: there is none, with cuDNN's
// reason.
Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device);

}  // namespace bench::ops::cuda
