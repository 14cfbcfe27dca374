// SPDX-License-Identifier: Apache-2.0
// Memory that a process may still take.
#pragma once

#include "base/units.hpp"
#include "harness/run/environment.hpp"

#include <optional>

namespace bench {

// MemAvailable of /proc/meminfo, and what the control group (v1 or v2) leaves where that is less.
// Absent when neither can be read.
std::optional<Bytes> available_memory(const SystemRoot& root);

}  // namespace bench
