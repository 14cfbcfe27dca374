// SPDX-License-Identifier: Apache-2.0
// Decides what computes a problem on a CUDA device, as far as this is known without cuDNN. Pure.
#pragma once

#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Returns why no cuDNN engine computes the problem. Covers only problems that a native kernel
// computes instead. Returns nullopt if cuDNN must be asked.
std::optional<std::string> known_gap(const Problem& problem);
// Like known_gap(), for problems that no native kernel computes. Used to list what is supported
// without a device or for a described device. On a device, cuDNN itself is asked, because later
// versions may support more.
std::optional<std::string> expected_gap(const Problem& problem, ComputeCapability capability);

// How a convolution is split: cuDNN's part, then a native kernel.
enum class ConvSplit { none, epilogue, bias_gradient };
// Returns how to split a convolution that one graph does not support.
ConvSplit conv_split(const Problem& problem);
// Returns the part that cuDNN computes: the convolution without bias and post-ops. The result of a
// forward convolution has the type `intermediate_dtype`.
Problem conv_part(const Problem& problem, DataType intermediate_dtype);
// Returns the types that the intermediate result may have, the preferred one first. For narrow
// types this is f32, because each part rounds its result. The last type is the problem's type. For
// integers f32 is the only one: it represents their sums exactly up to 2^24.
std::vector<DataType> intermediate_types(const Problem& problem);

// Returns a forward convolution of few channels with zeros as further channels of source and
// weights, so that cuDNN reads the source without a copy of its own. Source and destination have
// the layout nhwc. The tensor of the weights keeps the channels of `problem`: packing the weights
// adds the zeros. nullopt: cuDNN reads the problem's channels as they are, or no engine is known to
// gain from more channels.
std::optional<Problem> padded_part(const Problem& problem);

// Returns a key. Problems with equal keys can use the same cuDNN graph and plan.
std::string plan_key(const Problem& problem);

}  // namespace bench::ops::cuda
