// SPDX-License-Identifier: Apache-2.0
// Functions of `run` and `profile` that interpret the profiler's options and format the recorded
// activities.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/report/layer_table.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/switches.hpp"

#include <optional>
#include <string>

namespace bench {

// Formats the counters of a case (harness/worker/counters_pass.hpp), and what its kernel names show
// about tensor cores. The text is printed below the line of the pass. Empty if there is neither.
std::string format_counters(const ProfilePassRecord& pass);

// Returns the switches of the configuration, overridden by those of the environment and then by
// those of the command line. Returns nullopt if no profiling pass is requested, and an error if an
// environment variable is invalid.
Result<std::optional<ProfileSwitches>> resolve_profile_switches(
    const std::optional<ProfileSwitches>& configured, const ProfileArguments& arguments,
    const Env& env);

// Formats, per case, what the table by layer cannot show: why nothing was profiled, GPU times,
// counters, and the number of unread lines. Empty if there is nothing of this kind.
std::string format_profile(const Report& report);

// The tables over all activities of a result file, and the verdict on its profile.
struct AuditedSummary {
  Summary summary;
  ProfileAudit audit;
};
// Reads them for the JSON document of `run`.
Result<AuditedSummary> read_profile_summary(const std::string& result);
// Audits the profile in a result file or profile.
Result<ProfileAudit> audit_profile(const std::string& path);
// Reads the times of the layers in a result file, for the table that `run` prints.
struct AuditedLayerTimes {
  LayerTimes times;
  ProfileAudit audit;
};
Result<AuditedLayerTimes> read_layer_times(const std::string& result);

// Checks, before anything is recorded, whether the files of write_profile_files() can be written.
Status check_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments);

// Writes the activities of a result file or profile in the formats that `switches` and `arguments`
// request. Prints the path of each file to standard error, unless --quiet is given.
Status write_profile_files(const std::string& result, const ProfileSwitches& switches,
                           const Arguments& arguments, Env& env);

}  // namespace bench
