// SPDX-License-Identifier: Apache-2.0
// Options that `gate` and `duet` share: the sides, and --bisect.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/gate/sides.hpp"
#include "harness/result/record.hpp"

#include <functional>
#include <string_view>

namespace bench {

// The candidate is this program unless --cand names another. The base is the program of --base.
// Without --base it is this program if a side has its own variables (--base-env, --cand-env);
// otherwise there is no base.
Result<GateSides> gate_sides(const Arguments& arguments, Clock& clock,
                             const std::function<bool()>& interrupted);

// The exit status for `git bisect run` (--bisect) with which git skips a commit. It is only
// returned with --bisect, so it is not one of the general statuses.
inline constexpr auto kSkippedCommit = static_cast<ExitStatus>(125);

// Returns success (not slower) and regression (slower) unchanged, and kSkippedCommit for everything
// else. git would call a commit with any other status bad. Prints why the commit is skipped.
ExitStatus bisect_status(std::string_view command, ExitStatus status, Env& env);

// Whether the command line of a command asks for these statuses, even if it is wrong otherwise.
bool asks_for_bisect(int argc, const char* const* argv);

}  // namespace bench
