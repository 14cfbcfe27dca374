// SPDX-License-Identifier: Apache-2.0
// How `run` and `profile` interpret the profiler's options, and what they write from the recorded
// activities.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/report/layer_table.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/switches.hpp"

#include <optional>
#include <string>

namespace bench {

// Formats the results of the counters pass of a case (harness/worker/counters_pass.hpp), and what
// its kernel names show about tensor cores, for printing below the pass's line. Empty if there is
// neither.
std::string format_counters(const ProfilePassRecord& pass);

// Combines the configuration's switches, then those of the environment, then those of the command
// line. Returns nullopt if no profiling pass is requested, and an error for an invalid environment
// variable.
Result<std::optional<ProfileSwitches>> profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env);

// What the table by layer cannot show, per case: why nothing was profiled, what a GPU did, counters
// and unread lines. Empty if there is nothing of this kind.
std::string format_profile(const Report& report);

// The tables over all activities of a result file, for its JSON document.
Result<Summary> profile_summary(const std::string& result);
// The times of the layers in a result file, for the table that `run` prints.
Result<LayerTimes> profiled_layers(const std::string& result);

// Checks, before anything is recorded, whether the files of write_profile_files() can be written.
Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments);

// Writes the activities of a result file or profile in the formats that `switches` and `arguments`
// request. Reports their paths on standard error.
Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env);

}  // namespace bench
