// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine's memory can hold a case.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

// Returns the size of all tensors without padding: a lower bound of the memory that a device needs.
// Returns the largest number if the size is even larger.
Bytes plain_size(std::span<const ops::Tensor> tensors);

// Returns why the host's memory cannot hold a case with these tensors: the minimum memory that the
// case needs, for what, and the available memory. Returns nullopt if the memory is sufficient, or
// if `available` is unknown. Allocates no tensors, so that `bench list` can call this function.
std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available);

}  // namespace bench
