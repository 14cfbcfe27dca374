// SPDX-License-Identifier: Apache-2.0
// Combines what the names of all kernels in a profile show about the use of tensor cores.
#pragma once

#include "profiler/activity.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

// Considers only kernels that compute; auxiliary ones (attribute `auxiliary`) are ignored. If all
// names agree, returns "used (name: nvjet)", "not used (name: simt)" or "unknown". Otherwise,
// returns "used by 12 of 14 kernels (name: nvjet, cutlass-tensor)". Returns "unknown" if some names
// are inconclusive and no other name shows a use. Returns nullopt if no kernel computes.
std::optional<std::string> tensor_cores_by_name(std::span<const Activity> activities);

}  // namespace bench
