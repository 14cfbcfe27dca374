// SPDX-License-Identifier: Apache-2.0
// Whether this machine's memory can hold a case.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

// All tensors without any padding: a lower bound of what a device must hold. The largest number
// where the sum has no other.
Bytes plain_size(std::span<const ops::Tensor> tensors);

// Why the host cannot hold a case of these tensors: how much memory it needs at least and for what,
// and how much is available. Nullopt if it can, or if `available` is unknown. Nothing has to be
// created for the answer, so that `bench list` can ask as well.
std::optional<std::string> memory_shortage(std::span<const ops::Tensor> tensors,
                                           std::optional<Bytes> available);

}  // namespace bench
