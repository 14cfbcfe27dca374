// SPDX-License-Identifier: Apache-2.0
// What the names of all kernels of a profile together tell of tensor cores.
#pragma once

#include "profiler/activity.hpp"

#include <optional>
#include <span>
#include <string>

namespace bench {

// Of the kernels that compute: auxiliary ones (attribute `auxiliary`) say nothing of an operator.
// Where all names tell the same: "used (name: nvjet)", "not used (name: simt)", "unknown"; else
// "used by 12 of 14 kernels (name: nvjet, cutlass-tensor)", or "unknown" where some names tell
// nothing and no other one tells of a use. Absent: no kernel computes.
std::optional<std::string> tensor_cores_by_name(std::span<const Activity> activities);

}  // namespace bench
