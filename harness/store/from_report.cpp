// SPDX-License-Identifier: Apache-2.0
#include "harness/store/from_report.hpp"

#include "base/quote.hpp"
#include "base/utc_time.hpp"
#include "harness/result/measured.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Finds the runs of a report, and the chains of runs that resumed each other.
class RunIndex {
 public:
  explicit RunIndex(const Report& report) : chains_(report.runs) {
    for (const RunRecord& run : report.runs) runs_.emplace(run.run_id, &run);
  }

  // Returns nullptr if the report has no such run.
  const RunRecord* run(const std::string& run_id) const {
    const auto found = runs_.find(run_id);
    return found == runs_.end() ? nullptr : found->second;
  }
  // Returns the id of the first run of the chain.
  const std::string& origin(const std::string& run_id) const { return chains_.origin(run_id); }

 private:
  RunChains chains_;
  std::unordered_map<std::string, const RunRecord*> runs_;
};

// Returns why the case cannot become a baseline; empty if it can.
// `first`: the first run of its chain.
std::string rejection_reason(const MeasuredCase& measured, const RunRecord* run,
                             const RunRecord* first) {
  if (measured.outcome != Outcome::ok) {
    const std::string_view name = to_string(measured.outcome);
    return measured.reason ? fmt::format("{}: {}", name, *measured.reason) : std::string(name);
  }
  if (run == nullptr) return "its run record is missing: the machine is unknown";
  if (run->environment.machine_class.empty()) return "the run record has no machine class";
  if (const std::string& start = (first != nullptr ? first : run)->started; !is_utc_time(start))
    return fmt::format("the run record states no valid start: {}", quote(start));
  if (run->under)
    return fmt::format("was measured under `{}`: profiled runs cannot become baselines",
                       *run->under);
  const auto& details = run->environment.details;
  if (const auto slowdown = details.find(std::string(kVariableDetail) + kSlowdownVariable);
      slowdown != details.end())
    return fmt::format("was slowed down on purpose ({}={})", kSlowdownVariable, slowdown->second);
  if (has_flag(measured.flags, Flag::interrupted))
    return "was interrupted: it has fewer processes than asked for";
  if (measured.processes.empty()) return "has no process records: a baseline needs samples";
  return "";
}

// Returns a copy with only the fields that the store contains.
MeasuredCase select_stored_fields(MeasuredCase measured) {
  MeasuredCase kept;
  kept.id = std::move(measured.id);
  kept.case_hash = std::move(measured.case_hash);
  kept.exact = std::move(measured.exact);
  kept.flags = std::move(measured.flags);
  kept.clock_hz = measured.clock_hz;
  kept.sample_method = std::move(measured.sample_method);
  kept.at = measured.at;
  kept.canary_threads = measured.canary_threads;
  kept.by_speed = std::move(measured.by_speed);
  kept.processes = std::move(measured.processes);
  return kept;
}

BaselineRecord make_baseline_record(MeasuredCase measured, const RunRecord& run,
                                    const RunIndex& runs) {
  const std::string& origin = runs.origin(run.run_id);
  const RunRecord* first = runs.run(origin);
  BaselineRecord record;
  record.measured = select_stored_fields(std::move(measured));
  record.run_id = origin;
  record.time = (first != nullptr ? *first : run).started;
  record.config = run.config_name;
  record.tool_version = run.tool_version;
  record.commit = run.tool_commit;
  record.seed = run.seed;
  record.environment = run.environment;
  return record;
}

}  // namespace

ReportBaselines make_baselines(const Report& report, const Acceptance& acceptance,
                               const std::map<std::string, StoredProfile>& profiles) {
  const RunIndex runs(report);
  std::vector<MeasuredCase> cases = measured_cases(report);
  ReportBaselines result;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string id = cases[i].id;
    const RunRecord* run = runs.run(report.cases[i].run_id);
    const RunRecord* first = run == nullptr ? nullptr : runs.run(runs.origin(run->run_id));
    if (std::string reason = rejection_reason(cases[i], run, first); !reason.empty()) {
      result.refused.push_back({id, std::move(reason)});
      continue;
    }
    BaselineRecord record = make_baseline_record(std::move(cases[i]), *run, runs);
    record.reason = acceptance.reason;
    record.anchor = acceptance.anchor;
    record.accepted_from = acceptance.accepted_from;
    if (const auto profile = profiles.find(id); profile != profiles.end())
      record.profile = profile->second;
    result.records.push_back(std::move(record));
  }
  return result;
}

}  // namespace bench
