// SPDX-License-Identifier: Apache-2.0
// How a run shows that it goes on: one line redrawn in place on a terminal, one line a finished
// case elsewhere, nothing when quiet.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/gate/measurer.hpp"
#include "harness/run/run.hpp"

#include <functional>
#include <memory>

namespace bench {

// Writes to env.err only. `env` outlives it.
std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env);

// What duets tell before each measurement, as steps of `observer`, which outlives it.
using DuetProgress = std::function<void(const GateStep& step)>;
DuetProgress duet_progress(RunObserver& observer);

}  // namespace bench
