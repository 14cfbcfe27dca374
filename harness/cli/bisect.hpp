// SPDX-License-Identifier: Apache-2.0
// Exit statuses for `git bisect run` (--bisect of `gate` and `duet`).
#pragma once

#include "base/env.hpp"
#include "harness/result/record.hpp"

#include <string_view>

namespace bench {

// git skips a commit with this status. It is only returned with --bisect, so it is not one of the
// general statuses.
inline constexpr auto kSkippedCommit = static_cast<ExitStatus>(125);

// Returns success (not slower) and regression (slower) unchanged, and kSkippedCommit for everything
// else. git would call a commit with any other status bad. Prints why the commit is skipped.
ExitStatus bisect_status(std::string_view command, ExitStatus status, Env& env);

// Whether the command line of a command asks for these statuses, even if it is wrong otherwise.
bool asks_for_bisect(int argc, const char* const* argv);

}  // namespace bench
