// SPDX-License-Identifier: Apache-2.0
// --base, --cand and their environments.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/gate/sides.hpp"

#include <functional>

namespace bench {

// The candidate is this program unless --cand names another. The base is the program of --base.
// Without --base it is this program if a side has its own variables (--base-env, --cand-env);
// otherwise there is no base.
Result<GateSides> gate_sides(const Arguments& arguments, Clock& clock,
                             const std::function<bool()>& interrupted);

}  // namespace bench
