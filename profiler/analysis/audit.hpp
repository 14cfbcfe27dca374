// SPDX-License-Identifier: Apache-2.0
// A profile's verdict on itself: whether its records are complete, whether their times can be true,
// and what it cost to record them (docs/profiler.md, The verdict on a profile).
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/launch_matching.hpp"
#include "profiler/analysis/time_order.hpp"
#include "profiler/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bench {

// doubtful: numbers may be wrong, or the cause may be harmless. broken: records are missing, or
// times are wrong. not_checkable: the profile lacks what the check needs; never shown as ok.
BENCH_ENUM(AuditVerdict, ok, (not_checkable, "not checkable"), doubtful, broken);

struct AuditRow {
  std::string check;            // "kernel launches"
  std::string expected, found;  // empty if there is nothing to state
  AuditVerdict verdict = AuditVerdict::ok;
  std::string reason;  // set for every verdict except ok
};

struct ProfileAudit {
  std::vector<AuditRow> rows;
  // Records that must be in the profile, and those that are: launches, or else records that the
  // profile itself counts. nullopt if neither is known.
  struct Completeness {
    std::string what;  // "launches have a record"
    std::int64_t expected = 0, found = 0;
  };
  std::optional<Completeness> completeness;
  // The part of the time that tracing took. at_least: not all of it can be measured.
  struct Cost {
    enum class Extent { all, at_least };
    double part = 0;
    Extent extent = Extent::all;
  };
  std::optional<Cost> cost;

  // The worst verdict of all rows; not_checkable only if no row has another one.
  AuditVerdict verdict() const;
};

// Audits the activities of a file while they are read. Place it before filters, and before stages
// that merge records. Memory is bounded.
class ProfileAuditor final : public ActivitySink {
 public:
  // nullptr: activities are only checked, not forwarded.
  explicit ProfileAuditor(ActivitySink* next = nullptr) : next_(next) {}
  Status consume(const Activity& activity) override;
  // Call this once, after the last activity. `report` is that of the reader.
  ProfileAudit finish(const ReadReport& report);

 private:
  struct PerIteration {
    std::int64_t primitives = 0, kernels = 0;
  };
  using IterationKey = std::pair<std::string, std::int64_t>;  // case, iteration
  void count_iteration(const Activity& activity);
  void count_primitive(const Activity& activity);
  void add_iteration_rows(const ReadReport& report, std::vector<AuditRow>& rows) const;
  void add_creation_row(const ReadReport& report, std::vector<AuditRow>& rows) const;

  ActivitySink* next_;
  analysis::LaunchMatcher launches_;
  analysis::TimeOrder order_;
  std::map<IterationKey, PerIteration> iterations_;
  std::map<std::string, Nanoseconds> iteration_times_;  // key: case
  // Hashes of the primitives that were created and executed.
  std::unordered_set<std::size_t> created_, executed_;
  Nanoseconds tracer_time_{0};  // that a tracer states as its own
  bool has_tracer_time_ = false;
  bool is_partial_ = false;  // a limit of memory was reached
};

// Returns the answer: "The profile is complete: 3,412 of 3,412 launches have a record; tracing cost
// 0.8 % of the time."
std::string describe_audit(const ProfileAudit& audit);
// Returns the answer and, if checks fail, a table of these; lines of at most `width` characters.
// Ends in a newline.
std::string format_verdict(const ProfileAudit& audit, std::optional<std::size_t> width);
// Returns the object {"verdict": ..., "answer": ..., "checks": [...]}.
std::string audit_json(const ProfileAudit& audit);
// Returns all checks in a format of analyze: table, markdown, csv, space or json. Returns an error
// for other names.
Result<std::string> format_audit(const ProfileAudit& audit, std::string_view format,
                                 std::optional<std::size_t> width);

}  // namespace bench
