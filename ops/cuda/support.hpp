// SPDX-License-Identifier: Apache-2.0
// What would compute a problem on a CUDA device, determined without a device.
#pragma once

#include "ops/problem.hpp"

#include <compare>
#include <string>

namespace bench::ops::cuda {

// {9, 0} for an H100. {0, 0} means that the device is unknown, which excludes no kernel.
struct ComputeCapability {
  int major = 0, minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};
inline constexpr ComputeCapability kNoDevice = {};

// unknown: cuDNN was not found and cannot be asked.
enum class Runnable { yes, no, unknown };

struct Support {
  Runnable runs = Runnable::no;
  std::string by;      // "cuDNN", "cuDNN + bench:elementwise", "bench:softmax_block", "cuBLASLt"
  std::string reason;  // why not, or why unknown; for yes: why a library's kernel is not used
};

}  // namespace bench::ops::cuda
