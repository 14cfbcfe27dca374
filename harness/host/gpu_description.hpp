// SPDX-License-Identifier: Apache-2.0
// A GPU that is not here, as a file describes it: for `bench explain --gpu FILE`.
#pragma once

#include "base/result.hpp"

#include <string>

namespace bench {

struct GpuDescription {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::string architecture;  // "sm_90"
  // JSON, as cuDNN describes the device; where it was not asked the compute capability alone.
  std::string cudnn_properties;
};

// The first device of what `bench worker --probe libraries` printed on its machine
// (ci/gpu_check.sh: device.json), or a device as cuDNN describes it (`deviceVer`, `deviceName`).
// Error: no such file, neither of the two, no device.
Result<GpuDescription> read_gpu_description(const std::string& path);

}  // namespace bench
