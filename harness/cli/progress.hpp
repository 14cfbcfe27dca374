// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a run: one line redrawn in place on a terminal, one line per finished case
// elsewhere, nothing if quiet.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/run/run.hpp"

#include <memory>

namespace bench {

// Writes only to env.err. `env` outlives it.
std::unique_ptr<RunObserver> make_progress(Verbosity verbosity, Env& env);

}  // namespace bench
