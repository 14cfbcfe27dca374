// SPDX-License-Identifier: Apache-2.0
// How `run` and `profile` interpret the profiler's options, and what they write from the recorded
// activities.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/switches.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace bench {

// Formats the results of the counters pass of a case (harness/worker/counters_pass.hpp), and what
// its kernel names show about tensor cores, for printing below the pass's line. Empty if there is
// neither.
std::string counters_text(const ProfilePassRecord& pass);

// Combines the configuration's switches, then those of the environment, then those of the command
// line. Returns nullopt if no profiling pass is requested, and an error for an invalid environment
// variable.
Result<std::optional<ProfileSwitches>> profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env);

// The cost of profiling and the fraction of the time that it explains, one line per case. Empty if
// there were no passes.
std::string profile_text(const Report& report);

// The tables over all activities of a result file.
Result<Summary> profile_summary(const std::string& result);
// Rows of each table that `run` prints; `bench analyze --summary` prints all.
inline constexpr std::size_t kSummaryRows = 20;

// Checks, before anything is recorded, whether the files of write_profile_files() can be written.
Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments);

// Writes the activities of a result file or profile in the formats that `switches` and `arguments`
// request. Reports their paths on standard error.
Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env);

}  // namespace bench
