// SPDX-License-Identifier: Apache-2.0
// Asks cuDNN, if it is installed, whether it supports a problem. Only builds graphs; needs no
// device.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/support.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bench::ops::cuda {

// What check_support() may use: a library, and the compute capability of a device.
struct SupportQuestion {
  std::shared_ptr<const CudnnApi> api;  // null: cuDNN was not found, for the reason in `missing`
  std::string missing;
  ComputeCapability capability = kNoDevice;  // determines the supported types
};

// Returns why a device of this compute capability does not support the problem's type, or nullopt
// if it does.
std::optional<std::string> missing_type_reason(const Problem& problem,
                                               ComputeCapability capability);

Support check_support(const Problem& problem, const SupportQuestion& question);

// Reads cuDNN's description of a device as JSON. With it, planned_engines() plans for that device
// on other machines. `device` is its number in the CUDA runtime. Error: cuDNN cannot describe the
// device, with cuDNN's reason.
Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device);

}  // namespace bench::ops::cuda
