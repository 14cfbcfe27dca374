// SPDX-License-Identifier: Apache-2.0
// What `run` and `profile` make of the profiler's options, and of the activities that they
// recorded.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/switches.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace bench {

// The configuration's switches, then those of the environment, then those of the command line.
// Absent: no profiling pass is wanted. Error: a variable of the environment.
Result<std::optional<ProfileSwitches>> profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env);

// What profiling cost and how much of the time it explains, a line a case; empty without passes.
std::string profile_text(const Report& report);

// The tables over all activities of a result file.
Result<Summary> profile_summary(const std::string& result);
// Rows of each table that `run` prints; `bench analyze --summary` has all.
inline constexpr std::size_t kSummaryRows = 20;

// Before anything is recorded: whether the files that write_profile_files() will write can be.
Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments);

// Writes the activities of a result file or profile as the formats that `switches` and `arguments`
// ask for. Says on the standard error where they are.
Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env);

}  // namespace bench
