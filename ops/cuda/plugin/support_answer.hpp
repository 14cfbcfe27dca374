// SPDX-License-Identifier: Apache-2.0
// What bench_cuda_support answers. Needs no device; loads cuDNN for problems that are cuDNN's.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/support.hpp"
#include "ops/plugin/bench_plugin.h"

#include <span>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// A device for which is asked.
struct AskedDevice {
  ComputeCapability of = kNoDevice;
  std::string_view properties =
      {};  // JSON, as cuDNN describes one; empty: its engines are not told
};

// Reads bench_cuda_support's `device`; of kNoDevice where it names no compute capability.
AskedDevice described_device(std::string_view json);

// JSON: {"runs":"yes","by":"cuDNN","reason":"","engines":[]}. A problem that cannot be read is a no
// with the reason.
std::string support_answer(const bench_problem& problem, std::string_view backend,
                           const AskedDevice& device, std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
