// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_one.hpp"

#include "harness/judge/change.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/result/measured.hpp"
#include "harness/stats/summary.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace bench {

namespace {

void set_level(StoredEvidence& stored, const StoredStatistics& history,
               std::optional<double> suite_sigma) {
  const std::vector<RunStatistics>& runs = history.runs;
  const std::vector<double> differences = run_differences(runs);
  const std::optional<double> sigma = moderated_sigma(differences, suite_sigma);
  stored.runs = sigma ? static_cast<int>(present_runs(runs)) : 0;
  stored.log_level = center(runs).value_or(0);
  stored.by_speed = history.recent;
  stored.sigma = sigma.value_or(0);
  stored.q95 = difference_quantile(differences, 0.95);
  stored.q99 = difference_quantile(differences, 0.99);
}

}  // namespace

void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const StoredStatistics> statistics) {
  assert(cases.size() == statistics.size());
  std::vector<double> sigmas;
  for (const StoredStatistics& stored : statistics) {
    if (const auto sigma = between_run_sigma(run_differences(stored.runs)))
      sigmas.push_back(*sigma);
  }
  // With few runs of a case, the suite's median sigma replaces the case's own.
  const std::optional<double> suite_sigma = median(sigmas);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::optional<StoredEvidence>& stored = cases[i].stored;
    if (stored && !stored->incomparable) set_level(*stored, statistics[i], suite_sigma);
  }
}

namespace {

constexpr double kOneSided95 = 1.645;  // quantile of the normal distribution
// Minimum number of processes for a clear case: one process does not show how processes differ. In
// stage 1 of a gate with a base, each case has only one.
constexpr std::size_t kMinProcesses = 2;

// Returns the difference of a new run from the level of the store that run-to-run variation alone
// exceeds with a probability of at most 5 %. `excess`: the difference, which is uncertain if the
// machine had another speed.
double compute_noise(const StoredEvidence& stored, const LogEstimate& excess) {
  // The level is the mean of this many runs, so its variance is 1 / runs of that of a new run.
  const double runs = std::clamp(stored.runs, 1, static_cast<int>(kRunsOfCenter));
  const double normal = kOneSided95 * stored.sigma * std::sqrt(1 + 1 / runs);
  return std::max({normal, stored.q95.value_or(0), kOneSided95 * excess.deviation});
}

ScreenResult keep_open(std::string reason) {
  return {ScreenResult::State::open, std::nullopt, std::nullopt, std::move(reason)};
}

}  // namespace

std::optional<LogEstimate> compare_with_store(const StoredEvidence& stored,
                                              const std::optional<TimesBySpeed>& by_speed,
                                              std::optional<double> iteration) {
  if (stored.by_speed && by_speed) return difference_at_equal_speed(*stored.by_speed, *by_speed);
  if (stored.by_speed || !iteration) return std::nullopt;
  return LogEstimate{std::log(*iteration) - stored.log_level, 0};
}

ScreenResult screen(const CaseEvidence& entry, const GateSettings& settings) {
  if (!entry.stored) return keep_open("the store has no run of this case");
  if (entry.stored->incomparable)
    return keep_open("the stored run is not comparable: " + *entry.stored->incomparable);
  const MeasuredCase& candidate = entry.candidate;
  const std::optional<LogEstimate> excess =
      compare_with_store(*entry.stored, candidate.by_speed, median_iteration(candidate));
  if (has_flag(candidate.flags, Flag::interrupted))
    return keep_open("the candidate's run was cut short");
  if (has_flag(candidate.flags, Flag::unsteady))
    return keep_open("its times were not steady at the end of the warm-up");
  if (!excess || entry.stored->runs == 0) return keep_open("there are no times to compare");
  if (candidate.processes.size() < kMinProcesses) return keep_open("");
  ScreenResult result;
  result.excess = excess->value;
  const double noise = compute_noise(*entry.stored, *excess);
  result.limit = std::log1p(settings.detect) - noise;
  // A case that is clearly faster is measured again, to show the improvement.
  const bool is_clearly_faster = *result.excess < -(std::log1p(settings.detect) + noise);
  if (*result.excess <= *result.limit && !is_clearly_faster) {
    result.state = ScreenResult::State::clear;
    return result;
  }
  result.reason =
      *result.limit < 0
          ? fmt::format("too noisy to pass by stored runs: its run-to-run variation is {:.1f} %",
                        100 * std::expm1(noise))
          : fmt::format("{:+.1f} % against the store", 100 * std::expm1(*result.excess));
  return result;
}

namespace {

const RunRecord* find_last_run(const Report& report) {
  return report.runs.empty() ? nullptr : &report.runs.back();
}

// Describes why the times of a stored run are not comparable with this run: the field that differs
// (case_hash or a condition of the device), with both values. Returns nullopt if they are.
std::optional<std::string> find_obstacle(const BaselineRecord& stored, const MeasuredCase& here) {
  if (stored.measured.case_hash != here.case_hash) {
    return fmt::format(
        "case_hash differs: {} in the store, {} here; the configuration of the case "
        "changed",
        stored.measured.case_hash, here.case_hash);
  }
  if (here.outcome != Outcome::ok) return std::nullopt;
  return device_difference(measured_case(stored), here, {"in the store", "here"});
}

// Returns the statistics of the stored runs that are comparable with this run.
StoredStatistics comparable_runs(const BaselineHistory& history, const MeasuredCase& here) {
  std::vector<BaselineRecord> comparable;
  std::ranges::copy_if(history.records, std::back_inserter(comparable),
                       [&](const BaselineRecord& stored) { return !find_obstacle(stored, here); });
  return run_statistics(comparable);
}

// Makes the evidence from the last stored run, without mean and variation, which
// set_stored_levels() adds. `here` is the case in this run.
StoredEvidence make_stored_evidence(const BaselineRecord& last, const MeasuredCase& here,
                                    const RunRecord& run) {
  StoredEvidence result;
  result.commit = last.commit;
  result.time = last.time;
  result.run_id = last.run_id;
  result.incomparable = find_obstacle(last, here);
  if (result.incomparable) return result;
  result.measured = measured_case(last);
  // Different input data give different outputs.
  if (last.seed && *last.seed != run.seed) result.measured.exact.facts.erase(kOutputDigestDetail);
  result.difference = find_cause_facts(with_case_facts(stored_facts(last), last.measured),
                                       with_case_facts(run_facts(run), here));
  return result;
}

// Describes how the two machines differ.
std::string describe_machine_difference(const EnvironmentRecord& stored,
                                        const EnvironmentRecord& here) {
  return fmt::format("machine_class differs: {} in the store, {} here ({})", stored.machine_class,
                     here.machine_class, describe_class_changes(stored, here));
}

// Assigns stored histories to the cases of one run.
class StoreLookup {
 public:
  StoreLookup(const RunRecord& run, std::vector<CaseEvidence>& cases)
      : run_(run), cases_(cases), statistics_(cases.size()) {
    for (CaseEvidence& entry : cases) {
      by_id_.emplace(entry.id(), &entry);
      by_file_.emplace(store_file_name(entry.id()), &entry);
    }
  }

  // Adds a history of this machine class. If its file has no readable record, the evidence of the
  // case states the reason.
  void add(const std::string& file_name, const BaselineHistory& history) {
    std::ranges::copy(history.problems, std::back_inserter(suite_.problems));
    if (history.last() == nullptr) {
      const auto unreadable = by_file_.find(file_name);
      if (unreadable == by_file_.end() || history.problems.empty()) return;
      unreadable->second->stored.emplace().incomparable = history.problems.front();
      unreadable->second->stored->is_malformed = true;
      suite_.has_configuration = true;
      return;
    }
    const BaselineRecord& last = *history.last();
    note_configuration(history);
    const auto found = by_id_.find(last.measured.id);
    if (found == by_id_.end()) {
      if (last.config == run_.config_name) suite_.removed.push_back(last.measured.id);
      return;
    }
    const MeasuredCase& candidate = found->second->candidate;
    found->second->stored = make_stored_evidence(last, candidate, run_);
    statistics_[static_cast<std::size_t>(found->second - cases_.data())] =
        comparable_runs(history, candidate);
    if (candidate.outcome == Outcome::ok && suite_.changes.empty()) {
      suite_.changes =
          run_changes(environment_facts(last.environment), environment_facts(run_.environment));
    }
  }

  // Whether a file of another machine class must be read: its case has no stored run yet, or no run
  // of the configuration was found yet.
  bool needs_foreign_file(const std::string& file_name) const {
    const auto found = by_file_.find(file_name);
    const bool has_waiting_case = found != by_file_.end() && !found->second->stored;
    return has_waiting_case || !suite_.has_configuration;
  }
  // Adds a history of another machine class, whose times are not comparable.
  void add_foreign(const BaselineHistory& history) {
    if (history.last() == nullptr) return;
    const BaselineRecord& last = *history.last();
    note_configuration(history);
    const auto found = by_id_.find(last.measured.id);
    if (found == by_id_.end() || found->second->stored) return;
    StoredEvidence& stored = found->second->stored.emplace();
    stored.commit = last.commit;
    stored.time = last.time;
    stored.run_id = last.run_id;
    stored.incomparable = describe_machine_difference(last.environment, run_.environment);
  }

  StoredSuite finish() && {
    set_stored_levels(cases_, statistics_);
    return std::move(suite_);
  }

 private:
  void note_configuration(const BaselineHistory& history) {
    suite_.has_configuration =
        suite_.has_configuration ||
        std::ranges::any_of(history.records, [this](const BaselineRecord& record) {
          return record.config == run_.config_name || by_id_.contains(record.measured.id);
        });
  }

  const RunRecord& run_;
  std::vector<CaseEvidence>& cases_;
  StoredSuite suite_;
  std::unordered_map<std::string, CaseEvidence*> by_id_, by_file_;
  std::vector<StoredStatistics> statistics_;  // one entry per case: its comparable runs
};

}  // namespace

std::vector<CaseEvidence> collect_stage_one(const Report& report) {
  std::vector<MeasuredCase> measured = measured_cases(report);
  std::vector<CaseEvidence> cases;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    CaseEvidence& entry = cases.emplace_back();
    entry.candidate = std::move(measured[i]);
    entry.is_unmeasured = is_unmeasured(report.cases[i]);
  }
  return cases;
}

Result<StoredSuite> add_stored(const Report& report, const BaselineStore& store,
                               std::vector<CaseEvidence>& cases) {
  const RunRecord* run = find_last_run(report);
  if (run == nullptr) return StoredSuite{};
  StoreLookup lookup(*run, cases);
  const std::string own_folder =
      BaselineStore::case_file(run->environment.machine_class, "").folder_name;
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreFile> files, store.list());
  for (const StoreFile& file : files) {
    if (file.folder_name != own_folder) continue;
    BENCH_ASSIGN_OR_RETURN(const BaselineHistory history, store.read(file));
    lookup.add(file.file_name, history);
  }
  for (const StoreFile& file : files) {
    if (file.folder_name == own_folder || !lookup.needs_foreign_file(file.file_name)) continue;
    BENCH_ASSIGN_OR_RETURN(const BaselineHistory history, store.read(file));
    lookup.add_foreign(history);
  }
  return std::move(lookup).finish();
}

}  // namespace bench
