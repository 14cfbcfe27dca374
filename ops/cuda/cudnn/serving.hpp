// SPDX-License-Identifier: Apache-2.0
// Who computes a problem on a CUDA device: what is known without asking cuDNN. Pure.
#pragma once

#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Why no engine of cuDNN serves a problem whose graph it may accept, and a kernel of ours does.
// Absent: cuDNN is to be asked.
std::optional<std::string> known_gap(const Problem& problem);
// The same where nothing takes its place: for lists that are made without a device, or for one that
// is described. On a device cuDNN is asked, since later versions may know better.
std::optional<std::string> expected_gap(const Problem& problem, ComputeCapability of);

// A convolution in two parts: cuDNN's, and a kernel of ours behind it.
enum class ConvSplit { none, epilogue, bias_gradient };
// How a convolution may be split where one graph does not serve it.
ConvSplit conv_split(const Problem& problem);
// The part that cuDNN computes: without bias and post-ops, its result in `between`.
Problem conv_part(const Problem& problem, DataType between);
// In what the result between may be held: f32 for narrow types first, since every part rounds; then
// the type itself, of floating types.
std::vector<DataType> between_types(const Problem& problem);

// Problems that one graph of cuDNN serves on equal terms have equal keys.
std::string plan_key(const Problem& problem);

}  // namespace bench::ops::cuda
