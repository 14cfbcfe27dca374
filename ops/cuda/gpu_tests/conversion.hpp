// SPDX-License-Identifier: Apache-2.0
// Two convolutions in half precision, with 64 input channels and with 60, which cuDNN pads. They
// show whether the copies that the workspace suggests are really made.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/gpu_tests/bound_case.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"

#include <cstdint>
#include <vector>

namespace bench::ops::cuda {

inline constexpr std::int64_t kConversionChannels[] = {60, 64};

struct ConversionCase {
  std::int64_t channels = 0;
  BoundCase bound;
};

// Error: cuDNN was not found, or it has no engine for the problem.
Result<std::vector<ConversionCase>> conversion_cases(const CheckRun& run);

}  // namespace bench::ops::cuda
