// SPDX-License-Identifier: Apache-2.0
// Converts verbose lines of oneDNN into activities.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/onednn/verbose_line.hpp"

namespace bench {

// Sets kind, name, duration, direction, device and the attributes from the line. Clears those that
// the line lacks. Keeps start, pid, tid, case and scope. Lines without a time (dispatch,
// check, error, warning, debuginfo) are markers. Returns false for lines that are not activities:
// info, other, partial, malformed, unknown.
bool fill_activity(const VerboseLine& line, Activity& activity);

}  // namespace bench
