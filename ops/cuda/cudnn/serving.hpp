// SPDX-License-Identifier: Apache-2.0
// Decides what computes a problem on a CUDA device, as far as is known without asking cuDNN. Pure.
#pragma once

#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Returns why no cuDNN engine serves a problem whose graph cuDNN may accept, if a native kernel
// does. Returns nullopt if cuDNN must be asked.
std::optional<std::string> known_gap(const Problem& problem);
// Like known_gap(), for problems that no native kernel serves. Used for lists made without a device
// or for a described device. On a device cuDNN is asked, because later versions may support more.
std::optional<std::string> expected_gap(const Problem& problem, ComputeCapability of);

// How a convolution is split: cuDNN's part, then a native kernel.
enum class ConvSplit { none, epilogue, bias_gradient };
// Returns how to split a convolution that one graph does not support.
ConvSplit conv_split(const Problem& problem);
// The part that cuDNN computes: without bias and post-ops, with its result in type `between`.
Problem conv_part(const Problem& problem, DataType between);
// The types that may hold the intermediate result. For narrow types f32 comes first, because every
// part rounds. Then, for floating-point types, the type itself.
std::vector<DataType> between_types(const Problem& problem);

// Problems with equal keys can use the same cuDNN graph and plan.
std::string plan_key(const Problem& problem);

}  // namespace bench::ops::cuda
