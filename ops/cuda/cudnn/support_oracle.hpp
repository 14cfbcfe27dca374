// SPDX-License-Identifier: Apache-2.0
// Asks cuDNN itself, if installed, what it supports. Builds graphs and, for a described device,
// plans them. Needs no device.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/support.hpp"

#include <memory>
#include <string>
#include <utility>

namespace bench::ops::cuda {

struct SupportQuestion {
  std::shared_ptr<const CudnnApi> api;  // null: cuDNN was not found, for the reason in `missing`
  std::string missing;
  ComputeCapability capability = kNoDevice;  // determines which types are supported
};

Support check_support(const Problem& problem, const SupportQuestion& question);

// Reads cuDNN's own description of a device: the JSON with which planned_engines() plans for that
// device on other machines. `device`: its number in the CUDA runtime. Error: there is none, with
// cuDNN's reason.
Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device);

}  // namespace bench::ops::cuda
