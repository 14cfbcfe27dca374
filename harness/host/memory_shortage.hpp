// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine's memory can hold a case.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

// Size of all tensors without padding: a lower bound of the memory that a device needs. Saturates
// at the largest number.
Bytes plain_size(std::span<const ops::Tensor> tensors);

// Returns why the host cannot hold a case with these tensors: the minimum memory that it needs, for
// what, and the available memory. Returns nullopt if it can, or if `available` is unknown. Creates
// nothing, so that `bench list` can call it as well.
std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available);

}  // namespace bench
