// SPDX-License-Identifier: Apache-2.0
// A device as cuDNN describes it to itself: the JSON with which planned_engines() asks about it
// elsewhere.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"

#include <memory>
#include <string>

namespace bench::ops::cuda {

// Of the CUDA runtime's device number `device`. Error: there is none, with cuDNN's reason.
Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device);

}  // namespace bench::ops::cuda
