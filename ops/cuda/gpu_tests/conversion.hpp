// SPDX-License-Identifier: Apache-2.0
// Creates two convolutions in half precision: with 64 input channels, and with 60, which cuDNN must
// pad. Their traces show whether cuDNN makes the copies that its workspace suggests.
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

// Creates one case per entry of kConversionChannels. Error: cuDNN was not found, or it has no
// engine for the problem.
Result<std::vector<ConversionCase>> make_conversion_cases(const CheckRun& run);

}  // namespace bench::ops::cuda
