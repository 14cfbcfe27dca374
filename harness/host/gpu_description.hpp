// SPDX-License-Identifier: Apache-2.0
// A GPU that is not in this machine, described by a file: for `bench explain --gpu FILE`.
#pragma once

#include "base/result.hpp"

#include <string>

namespace bench {

struct GpuDescription {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::string architecture;  // "sm_90"
  // JSON with the properties that cuDNN reports for the device; if cuDNN was not asked, only the
  // compute capability.
  std::string cudnn_properties;
};

// Reads the first device in the output of `bench worker --probe libraries` on its machine
// (ci/gpu_check.sh: device.json), or a device as cuDNN describes it (`deviceVer`, `deviceName`).
// Returns an error if the file does not exist, has neither format, or contains no device.
Result<GpuDescription> read_gpu_description(const std::string& path);

}  // namespace bench
