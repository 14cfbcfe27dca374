// SPDX-License-Identifier: Apache-2.0
#include "harness/store/from_report.hpp"

#include "harness/result/measured.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Indexes the report by run and by case.
class Lookup {
 public:
  explicit Lookup(const Report& report) : report_(report), chains_(report.runs) {
    for (const RunRecord& run : report.runs) runs_.emplace(run.run_id, &run);
    for (const ProcessRecord& process : report.processes)
      processes_[key(process.run_id, process.id)][process.process] = &process;
  }

  const RunRecord* run(const std::string& run_id) const {
    const auto found = runs_.find(run_id);
    return found == runs_.end() ? nullptr : found->second;
  }
  const std::string& origin(const std::string& run_id) const { return chains_.origin(run_id); }

  // Collects processes from all runs of the chain, since each may have measured some of them.
  std::vector<ProcessSummary> processes(const CaseRecord& record) const {
    std::vector<ProcessSummary> summaries;
    const auto found = processes_.find(key(record.run_id, record.id));
    if (found == processes_.end()) return summaries;
    std::vector<const ProcessRecord*> all;
    for (const auto& [number, process] : found->second) all.push_back(process);
    for (const CountedSamples& process : judge_samples(all).counted) {
      if (auto summary = summarise(process)) summaries.push_back(*summary);
    }
    return summaries;
  }

  // Returns medians over the canaries of the chain's runs.
  std::optional<Canaries> canaries(const std::string& run_id) const {
    Canaries result;
    for (const CanaryField& field : kCanaryFields) {
      std::vector<Nanoseconds> times;
      for (const CanaryRecord& canary : report_.canaries) {
        if (origin(canary.run_id) == origin(run_id)) times.push_back(canary.time.*field.time);
      }
      if (times.empty()) return std::nullopt;
      result.*field.time = *median(times);
    }
    return result;
  }

 private:
  std::string key(const std::string& run_id, const std::string& id) const {
    return origin(run_id) + ' ' + id;
  }

  const Report& report_;
  RunChains chains_;
  std::unordered_map<std::string, const RunRecord*> runs_;
  std::unordered_map<std::string, std::map<int, const ProcessRecord*>> processes_;
};

// Returns why the case cannot become a baseline; empty if it can.
std::string refusal(const CaseRecord& record, const RunRecord* run) {
  if (record.outcome != Outcome::ok) {
    const std::string_view name = name_of(record.outcome);
    return record.reason ? fmt::format("{}: {}", name, *record.reason) : std::string(name);
  }
  if (run == nullptr) return "its run record is missing: the machine is unknown";
  if (run->environment.machine_class.empty()) return "the run record has no machine class";
  if (run->under)
    return fmt::format("was measured under `{}`: profiled runs cannot become baselines",
                       *run->under);
  const auto& details = run->environment.details;
  if (const auto slowdown = details.find(std::string(kVariableDetail) + kSlowdownVariable);
      slowdown != details.end())
    return fmt::format("was slowed down on purpose ({}={})", kSlowdownVariable, slowdown->second);
  if (has_flag(record, Flag::interrupted))
    return "was interrupted: it has fewer processes than asked for";
  return "";
}

BaselineRecord record_of(const CaseRecord& entry, const RunRecord& run, const Lookup& lookup) {
  const std::string& origin = lookup.origin(run.run_id);
  const RunRecord* first = lookup.run(origin);
  BaselineRecord record;
  record.id = entry.id;
  record.case_hash = entry.case_hash;
  record.run_id = origin;
  record.time = (first != nullptr ? *first : run).started;
  record.config = run.config_name;
  record.tool_version = run.tool_version;
  record.commit = run.tool_commit;
  record.seed = run.seed;
  record.environment = run.environment;
  record.canaries = lookup.canaries(run.run_id);
  record.implementation = entry.implementation.value_or("");
  record.flags = entry.flags;
  record.clock_hz = entry.clock_hz;
  record.sample_method = entry.sample_method;
  record.quiet = entry.quiet;
  record.processes = lookup.processes(entry);
  record.exact = exact_facts(entry);
  return record;
}

}  // namespace

ReportBaselines baselines_of(const Report& report, const Acceptance& acceptance,
                             const std::map<std::string, StoredProfile>& profiles) {
  const Lookup lookup(report);
  ReportBaselines result;
  for (const CaseRecord& entry : report.cases) {
    const RunRecord* run = lookup.run(entry.run_id);
    if (std::string reason = refusal(entry, run); !reason.empty()) {
      result.refused.push_back({entry.id, std::move(reason)});
      continue;
    }
    BaselineRecord record = record_of(entry, *run, lookup);
    if (record.processes.empty()) {
      result.refused.push_back({entry.id, "has no process records: a baseline needs samples"});
      continue;
    }
    record.reason = acceptance.reason;
    record.anchor = acceptance.anchor;
    record.accepted_from = acceptance.accepted_from;
    if (const auto profile = profiles.find(entry.id); profile != profiles.end())
      record.profile = profile->second;
    result.records.push_back(std::move(record));
  }
  return result;
}

}  // namespace bench
