// SPDX-License-Identifier: Apache-2.0
// How a run shows that it goes on: one line redrawn in place on a terminal, one line a finished
// case elsewhere, nothing when quiet.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/run/run.hpp"

#include <memory>

namespace bench {

// Writes to env.err only. `env` outlives it.
std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env);

}  // namespace bench
