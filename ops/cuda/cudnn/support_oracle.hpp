// SPDX-License-Identifier: Apache-2.0
// Support told by cuDNN itself where it is there: graphs are built and, for a device that is
// described, planned. Needs no device.
#pragma once

#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/support.hpp"

#include <memory>
#include <string>
#include <utility>

namespace bench::ops::cuda {

struct SupportQuestion {
  std::shared_ptr<const CudnnApi> api;  // null: cuDNN is not there, for the reason below
  std::string missing;
  ComputeCapability of = kNoDevice;  // decides on types
};

Support support_of(const Problem& problem, const SupportQuestion& asked);

}  // namespace bench::ops::cuda
