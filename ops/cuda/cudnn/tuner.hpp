// SPDX-License-Identifier: Apache-2.0
// Finds the fastest of several kernels of one problem by measuring them on the device's clock.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct TunedChoice {
  std::size_t best = 0;
  std::vector<std::optional<Nanoseconds>> times;  // time of one execution; nullopt if it failed
  // Formats the result: "best of 3: cudnn:engine_4 12345 ns, cudnn:engine_7 23456 ns,
  // cudnn:engine_2 failed".
  std::string text(std::span<const std::unique_ptr<Kernel>> kernels) const;
};

// Measures the kernels and returns the fastest. The time of a kernel is the median of three
// samples. Each kernel gets its own buffers, which are released afterwards. BackendError: not
// enough memory for the buffers, no kernel ran, or the device is lost.
Result<TunedChoice, BackendError> find_fastest(Runtime& runtime,
                                               std::span<const std::unique_ptr<Kernel>> kernels);

}  // namespace bench::ops::cuda
