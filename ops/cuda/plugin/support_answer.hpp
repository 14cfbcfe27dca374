// SPDX-License-Identifier: Apache-2.0
// Computes the answers of PluginServices::support and plan, without a device. Loads cuDNN for
// networks and for operators that run on cuDNN.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/support.hpp"
#include "ops/network/network.hpp"

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

// Parses the `device` argument of PluginServices::support. `capability` is kNoDevice if it contains
// no compute capability.
DescribedDevice parse_asked_device(std::string_view json);

// Returns JSON: {"runs":"yes","by":"cuDNN","reason":"","engines":[]}. The problem has the operators
// of this copy.
std::string support_answer(const Problem& problem, std::string_view backend,
                           const DescribedDevice& device, std::span<const SearchStep> search);

// Returns the same for what does not run, for this reason.
std::string refusal_answer(const std::string& reason);

// Returns the same for a network, with "basis" and "steps" (handover.hpp).
std::string plan_answer(const Network& network, const DescribedDevice& device,
                        std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
