// SPDX-License-Identifier: Apache-2.0
// Corrects what earlier releases recorded wrongly, so that old result files give right sums.
#pragma once

#include "profiler/activity.hpp"

#include <optional>

namespace bench {

// Releases before `bench_step.moved` recorded the steps beside a node of a network on a GPU (a
// reorder, an epilogue, the gradient of a bias) with the node's work, which then counted twice.
// Returns the activity of such a step, or of its kernel, without the work; nullopt if the activity
// is right. A reorder becomes one, as it is recorded today, except that its bytes are unknown.
std::optional<Activity> without_work_of_node(const Activity& activity);

}  // namespace bench
