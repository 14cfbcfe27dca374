// SPDX-License-Identifier: Apache-2.0
// Two convolutions in half precision, of 64 input channels and of 60, which cuDNN pads: do the
// copies appear that the workspace promises?
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/runtime/runtime.hpp"
#include "ops/kernel.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {

inline constexpr std::int64_t kConversionChannels[] = {60, 64};

// Bound and executed once. Members end in the right order.
struct ConversionCase {
  std::int64_t channels = 0;
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Kernel> kernel;
  std::vector<std::shared_ptr<void>> memory;
  std::unique_ptr<Invocation> invocation;
};

// Error: there is no cuDNN, or no engine for it.
Result<std::vector<ConversionCase>> conversion_cases(const CheckRun& run);

}  // namespace bench::ops::cuda
