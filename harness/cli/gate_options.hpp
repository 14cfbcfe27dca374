// SPDX-License-Identifier: Apache-2.0
// Options that `gate` and `duet` share: the sides, and --bisect.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/plan.hpp"
#include "harness/gate/sides.hpp"
#include "harness/result/record.hpp"

#include <string_view>

namespace bench {

// Returns the sides that the options name. The candidate is this program unless --cand names
// another. The base is the program of --base. Without --base, the base is this program if a side
// has its own variables (--base-env, --cand-env) or library (--base-library, --cand-library, which
// become variables); otherwise there is no base. `limit` bounds the wait for both programs
// together.
Result<GateSides> find_gate_sides(const Arguments& arguments, const Plan& plan,
                                  const TimeLimit& limit, Env& env);

// Returns the exit status of a command whose sides could not be found or inspected: not_measured if
// the budget or the user ended that, otherwise usage.
ExitStatus unusable_sides_status(const TimeLimit& limit);

// Exit status with which `git bisect run` skips a commit. Commands return it only with --bisect, so
// it is not an enumerator of ExitStatus.
inline constexpr auto kSkippedCommit = static_cast<ExitStatus>(125);

// Returns success (not slower) and regression (slower) unchanged. Returns kSkippedCommit for any
// other status, which git would count as bad, and prints why the commit is skipped.
ExitStatus bisect_status(std::string_view command, ExitStatus status, Env& env);

// Returns whether the command line contains --bisect, even if it is otherwise invalid.
bool asks_for_bisect(int argc, const char* const* argv);

}  // namespace bench
