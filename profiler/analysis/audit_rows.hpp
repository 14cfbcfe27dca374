// SPDX-License-Identifier: Apache-2.0
// The rows of an audit, by what they check.
#pragma once

#include "base/units.hpp"
#include "profiler/analysis/audit.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

// Launches against the records of what they launched.
void add_launch_rows(const LaunchMatch& match, const ReadReport& report, ProfileAudit& audit);
// Records that are lost, malformed or fewer than the profile states.
void add_record_rows(const ReadReport& report, ProfileAudit& audit);
// `iterations`: the time of the recorded iterations by case.
void add_sum_rows(const ReadReport& report, const std::map<std::string, Nanoseconds>& iterations,
                  std::vector<AuditRow>& rows);
void add_order_rows(const TimeOrderFindings& order, const ReadReport& report,
                    std::vector<AuditRow>& rows);
// The clocks of devices and of the system.
void add_clock_rows(const LaunchMatch& match, const ReadReport& report,
                    std::vector<AuditRow>& rows);

struct TracerTime {
  std::optional<Nanoseconds> stated;  // that a tracer states as its own
  Nanoseconds recorded{0};            // the time that the profile covers
  std::int64_t device_records = 0;    // activities whose times come from a device's own clock
};
void add_cost_rows(const ReadReport& report, const TracerTime& tracer, ProfileAudit& audit);

}  // namespace bench::analysis
