// SPDX-License-Identifier: Apache-2.0
// Reads the description of a GPU that is not in this machine, for `bench explain --gpu FILE`.
#pragma once

#include "base/result.hpp"

#include <string>

namespace bench {

struct GpuDescription {
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::string architecture;  // "sm_90"
  // The properties that cuDNN reports for the device, as JSON. If the file has none, only the
  // compute capability.
  std::string cudnn_properties;
};

// Reads a file in one of two formats. The first is the output of `bench worker --probe libraries`
// on the machine with the GPU (device.json of ci/gpu_check.sh); its first device is used. The
// second is the JSON in which cuDNN describes a device (`deviceVer`, `deviceName`). Returns an
// error if the file does not exist, has neither format, or contains no device.
Result<GpuDescription> read_gpu_description(const std::string& path);

// Describes a GPU by its architecture alone: "sm_90".
GpuDescription describe_architecture(const std::string& architecture);

}  // namespace bench
