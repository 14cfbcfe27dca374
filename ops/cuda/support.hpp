// SPDX-License-Identifier: Apache-2.0
// What would compute a problem on a CUDA device, told without one.
#pragma once

#include "ops/problem.hpp"

#include <compare>
#include <string>

namespace bench::ops::cuda {

// {9, 0} of an H100; 0 is that of no device in particular, of which nothing is refused.
struct ComputeCapability {
  int major = 0, minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};
inline constexpr ComputeCapability kNoDevice = {};

// unknown: cuDNN is not there to be asked.
enum class Runs { yes, no, unknown };

struct Support {
  Runs runs = Runs::no;
  std::string by;      // "cuDNN", "cuDNN + bench:elementwise", "bench:softmax_block", "cuBLASLt"
  std::string reason;  // why not, or why it is not known; of yes: what speaks against a library
};

}  // namespace bench::ops::cuda
