// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace bench {

// Mean of the two middle values for an even number; absent without values. They need not be sorted.
std::optional<double> median(std::span<const double> values);

}  // namespace bench
