// SPDX-License-Identifier: Apache-2.0
// Describes what would compute a problem on a CUDA device. Determining it needs no device.
#pragma once

#include "base/enumerators.hpp"
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
BENCH_ENUM(Runnable, yes, no, unknown);

struct Support {
  Runnable runs = Runnable::no;
  // What computes the problem: "cuDNN", "cuDNN + bench:elementwise", "bench:softmax_block",
  // "cuBLASLt".
  std::string by;
  // Why the problem does not run, or why this is unknown. For yes: why no library kernel is used.
  std::string reason;
};

}  // namespace bench::ops::cuda
