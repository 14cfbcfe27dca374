// SPDX-License-Identifier: Apache-2.0
// Verbose lines of oneDNN as activities.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <string_view>

namespace bench {

// "exec", "create", "create_nested", "external", "dispatch", "check", "error", "warning",
// "debuginfo", "graph": the attribute `phase`; empty for lines that are no activity.
std::string_view phase_of(VerboseKind kind);

// Sets kind, name, duration, direction, device and the attributes that the line gives; all others
// of these are cleared. Start, pid, tid, case and scope are left as they are. Lines without a time
// (dispatch, check, error, warning, debuginfo) are markers. False for lines that are no activity:
// info, other, partial, damaged, unknown.
bool fill_activity(const VerboseLine& line, Activity& activity);

}  // namespace bench
