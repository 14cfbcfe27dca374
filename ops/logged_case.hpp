// SPDX-License-Identifier: Apache-2.0
// Which case repeats an execution of a oneDNN log: find_exact_case() with what that leaves out,
// the layouts of tensors, the math mode, scales and zero points.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"

namespace bench::ops {

// `execution`: an activity with phase `exec` of a oneDNN log or profile.
// The layout is `nchw` or `nhwc` if the program's tensors have it. It is `any` if the program let
// the library choose, and for tensors that cases always store densely. Weights of a product that
// the program stores plainly give `two_inputs`.
// Error: `what` says why no case repeats the execution, also if only a layout or an attribute
// (rounding, dropout, scales per group) has no word in a case.
Result<ProblemRequest> find_logged_case(const Activity& execution);

}  // namespace bench::ops
