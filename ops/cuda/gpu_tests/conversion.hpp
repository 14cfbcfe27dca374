// SPDX-License-Identifier: Apache-2.0
// Two convolutions in half precision, of 64 input channels and of 60, which cuDNN pads: do the
// copies appear that the workspace promises?
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

// Error: there is no cuDNN, or no engine for it.
Result<std::vector<ConversionCase>> conversion_cases(const CheckRun& run);

}  // namespace bench::ops::cuda
