// SPDX-License-Identifier: Apache-2.0
// The fastest of several kernels of one problem, by measurement on the device's clock.
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
  std::vector<std::optional<Nanoseconds>> times;  // of one execution; absent: it failed
  // "best of 3: cudnn:engine_4 12345 ns, cudnn:engine_7 23456 ns, cudnn:engine_2 failed".
  std::string text(std::span<const std::unique_ptr<Kernel>> kernels) const;
};

// Each is sampled three times, the median counts; on buffers of its own, which are released again.
// Refusal: no memory for them, none of the kernels ran, or the device is lost.
Result<TunedChoice, Refusal> fastest(Runtime& runtime,
                                     std::span<const std::unique_ptr<Kernel>> kernels);

}  // namespace bench::ops::cuda
