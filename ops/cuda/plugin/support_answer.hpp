// SPDX-License-Identifier: Apache-2.0
// Computes the answers of bench_cuda_support and bench_cuda_plan, without a device. Loads cuDNN for
// networks and for operators that run on cuDNN.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/support.hpp"
#include "ops/plugin/bench_plugin.h"

#include <span>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// The device that the question is about.
struct DescribedDevice {
  ComputeCapability capability = kNoDevice;
  // cuDNN's description of the device as JSON. Empty: the answer lists no engines.
  std::string_view properties = {};
};

// Parses the `device` argument of bench_cuda_support. `capability` is kNoDevice if it contains no
// compute capability.
DescribedDevice parse_asked_device(std::string_view json);

// Returns JSON: {"runs":"yes","by":"cuDNN","reason":"","engines":[]}. A problem that cannot be
// parsed gives "no" with the reason.
std::string support_answer(const bench_problem& problem, std::string_view backend,
                           const DescribedDevice& device, std::span<const SearchStep> search);

// Returns the same for a network, with "basis" and "steps" (bench_cuda.h).
std::string plan_answer(const bench_network& network, const DescribedDevice& device,
                        std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
