// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_one.hpp"

#include "harness/judge/change.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/result/measured.hpp"
#include "harness/stats/median.hpp"
#include "harness/store/baseline_file.hpp"
#include "harness/store/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

namespace bench {

namespace {

void set_level(StoredEvidence& stored, std::span<const RunStatistics> levels,
               std::optional<double> suite_sigma) {
  const std::optional<double> sigma = moderated_sigma(median_differences(levels), suite_sigma);
  const std::vector<double> differences = q25_differences(levels);
  stored.runs = sigma ? static_cast<int>(present_runs(levels)) : 0;
  stored.mean_log_q25 = center(levels).value_or(0);
  stored.sigma = sigma.value_or(0);
  stored.q95 = difference_quantile(differences, 0.95);
  stored.q99 = difference_quantile(differences, 0.99);
}

}  // namespace

void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const std::vector<RunStatistics>> levels) {
  assert(cases.size() == levels.size());
  std::vector<double> sigmas;
  for (const std::vector<RunStatistics>& runs : levels) {
    if (const auto sigma = between_run_sigma(median_differences(runs))) sigmas.push_back(*sigma);
  }
  // With few runs of a case, the suite's median sigma replaces the case's own.
  const std::optional<double> suite_sigma = median(sigmas);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::optional<StoredEvidence>& stored = cases[i].stored;
    if (stored && !stored->incomparable) set_level(*stored, levels[i], suite_sigma);
  }
}

namespace {

constexpr double kOneSided95 = 1.645;  // quantile of the normal distribution
// One process does not show how processes differ. A gate with a base runs only one in stage 1.
constexpr std::size_t kMinProcesses = 2;

double uncertainty(const StoredEvidence& stored) {
  // The store's mean_log_q25 is a mean of these runs; its own error adds to that of a new run.
  const double runs = std::clamp(stored.runs, 1, static_cast<int>(kRunsOfCenter));
  const double normal = kOneSided95 * stored.sigma * std::sqrt(1 + 1 / runs);
  return std::max(normal, stored.q95.value_or(0));
}

Screened suspect(std::string reason) {
  return {Screened::Result::suspect, std::nullopt, std::nullopt, std::move(reason)};
}

}  // namespace

Screened screen(const CaseEvidence& entry, const GateSettings& settings,
                const std::optional<std::string>& moved) {
  if (moved) return suspect(*moved);
  if (!entry.stored) return suspect("the store has no run of this case");
  if (entry.stored->incomparable)
    return suspect("the stored run is not comparable: " + *entry.stored->incomparable);
  const MeasuredCase& candidate = entry.candidate;
  const std::optional<double> q25 = q25_iteration(candidate);
  if (has_flag(candidate.flags, Flag::interrupted))
    return suspect("the candidate's run was cut short");
  if (has_flag(candidate.flags, Flag::unsteady))
    return suspect("its times were not steady at the end of the warm-up");
  if (!q25 || entry.stored->runs == 0) return suspect("there are no times to compare");
  if (candidate.processes.size() < kMinProcesses) return suspect("");
  Screened result;
  result.excess = std::log(*q25) - entry.stored->mean_log_q25;
  const double noise = uncertainty(*entry.stored);
  result.limit = std::log1p(settings.detect) - noise;
  // An improvement is worth duets only if it is clearly one.
  const bool faster = *result.excess < -(std::log1p(settings.detect) + noise);
  if (*result.excess <= *result.limit && !faster) {
    result.result = Screened::Result::clear;
    return result;
  }
  result.reason =
      *result.limit < 0
          ? fmt::format("too noisy for the screen: its run-to-run variation is {:.1f} %",
                        100 * std::expm1(noise))
          : fmt::format("{:+.1f} % against the store", 100 * std::expm1(*result.excess));
  return result;
}

namespace {

constexpr double kCanaryDeviations = 3;
constexpr std::size_t kMinCanaries = 5;  // fewer canaries give no deviation of their own

const RunRecord* last_run(const Report& report) {
  return report.runs.empty() ? nullptr : &report.runs.back();
}

// Describes why stored times are not comparable (machine, build or configuration differs): the
// field and both values.
std::optional<std::string> difference(const BaselineRecord& stored, const MeasuredCase& here) {
  if (stored.measured.case_hash != here.case_hash) {
    return fmt::format(
        "case_hash differs: {} in the store, {} here; the configuration of the case "
        "changed",
        stored.measured.case_hash, here.case_hash);
  }
  if (here.outcome != Outcome::ok) return std::nullopt;
  return device_difference(measured_case(stored), here, {"in the store", "here"});
}

std::vector<RunStatistics> comparable_levels(const BaselineHistory& history,
                                             const MeasuredCase& here) {
  std::vector<BaselineRecord> same;
  std::ranges::copy_if(history.records, std::back_inserter(same),
                       [&](const BaselineRecord& other) { return !difference(other, here); });
  return run_statistics(same);
}

// The level is missing; set_stored_levels() adds it. `here` is what to compare with, measured with
// the input data of `seed`.
StoredEvidence stored_evidence(const BaselineRecord& last, const MeasuredCase& here,
                               std::uint64_t seed) {
  StoredEvidence result;
  result.commit = last.commit;
  result.time = last.time;
  result.run_id = last.run_id;
  result.incomparable = difference(last, here);
  if (result.incomparable) return result;
  result.measured = measured_case(last);
  // Different data give different results.
  if (last.seed && *last.seed != seed) result.measured.exact.facts.erase(kOutputDigestDetail);
  return result;
}

std::optional<double> log_time(Nanoseconds time) {
  if (time.count() <= 0) return std::nullopt;
  return std::log(static_cast<double>(time.count()));
}

struct CanaryLevel {
  double center = 0;
  double deviation = 0;
};
std::optional<CanaryLevel> compute_level(const std::vector<double>& logs) {
  const auto center = median(logs);
  if (!center) return std::nullopt;
  return CanaryLevel{*center, logs.size() >= kMinCanaries ? *scaled_deviation(logs) : 0};
}

// Keeps the largest change beyond its limit.
void consider(std::optional<MachineDrift>& worst, double log, double limit, std::string_view canary,
              std::string_view since) {
  if (std::abs(log) <= limit || (worst && worst->log >= std::abs(log))) return;
  worst = MachineDrift{std::abs(log), fmt::format("machine speed changed: {} by {:+.1f} % {}",
                                                  canary, 100 * std::expm1(log), since)};
}

// Describes the facts that distinguish the two machines, as far as the records contain them.
std::string machine_difference(const EnvironmentRecord& stored, const EnvironmentRecord& here) {
  std::string text = fmt::format("machine_class differs: {} in the store, {} here",
                                 stored.machine_class, here.machine_class);
  std::vector<Change> changes = changes_between(environment_facts(stored), environment_facts(here));
  std::erase_if(changes, [](const Change& change) {
    return !change.field.starts_with("cpu") && !change.field.starts_with("cache.");
  });
  return changes.empty() ? text : fmt::format("{} ({})", text, format_changes(changes));
}

// Matches stored histories with the cases of one run.
class StoreLookup {
 public:
  StoreLookup(const RunRecord& run, std::vector<CaseEvidence>& cases)
      : run_(run), cases_(cases), levels_(cases.size()) {
    for (CaseEvidence& entry : cases) {
      by_id_.emplace(entry.id(), &entry);
      by_file_.emplace(store_file_name(entry.id()), &entry);
    }
  }

  // Adds a history of this machine class. If its file is unreadable, its case records the reason.
  void take(const std::string& file_name, const BaselineHistory& history) {
    std::ranges::copy(history.problems, std::back_inserter(suite_.problems));
    if (history.last() == nullptr) {
      const auto of = by_file_.find(file_name);
      if (of == by_file_.end() || history.problems.empty()) return;
      of->second->stored.emplace().incomparable = history.problems.front();
      of->second->stored->is_malformed = true;
      suite_.holds_configuration = true;
      return;
    }
    for (const BaselineRecord& record : history.records) {
      if (record.canaries) canaries_.emplace(record.run_id, *record.canaries);
    }
    const BaselineRecord& last = *history.last();
    note_configuration(history);
    const auto found = by_id_.find(last.measured.id);
    if (found == by_id_.end()) {
      if (last.config == run_.config_name) suite_.removed.push_back(last.measured.id);
      return;
    }
    const MeasuredCase& candidate = found->second->candidate;
    found->second->stored = stored_evidence(last, candidate, run_.seed);
    levels_[static_cast<std::size_t>(found->second - cases_.data())] =
        comparable_levels(history, candidate);
    if (candidate.outcome == Outcome::ok && suite_.changes.empty()) {
      suite_.changes =
          run_changes(environment_facts(last.environment), environment_facts(run_.environment));
    }
  }

  // Whether a file of another machine class is needed: this class has no run of its case, or no run
  // of the configuration was found yet.
  bool misses(const std::string& file_name) const {
    const auto found = by_file_.find(file_name);
    const bool is_of_case = found != by_file_.end() && !found->second->stored;
    return is_of_case || !suite_.holds_configuration;
  }
  void take_foreign(const BaselineHistory& history) {
    if (history.last() == nullptr) return;
    const BaselineRecord& last = *history.last();
    note_configuration(history);
    const auto found = by_id_.find(last.measured.id);
    if (found == by_id_.end() || found->second->stored) return;
    StoredEvidence& stored = found->second->stored.emplace();
    stored.commit = last.commit;
    stored.time = last.time;
    stored.run_id = last.run_id;
    stored.incomparable = machine_difference(last.environment, run_.environment);
  }

  StoredSuite finish() && {
    set_stored_levels(cases_, levels_);
    for (const auto& [run_id, times] : canaries_) suite_.canaries.push_back(times);
    return std::move(suite_);
  }

 private:
  void note_configuration(const BaselineHistory& history) {
    suite_.holds_configuration =
        suite_.holds_configuration ||
        std::ranges::any_of(history.records, [this](const BaselineRecord& record) {
          return record.config == run_.config_name || by_id_.contains(record.measured.id);
        });
  }

  const RunRecord& run_;
  std::vector<CaseEvidence>& cases_;
  StoredSuite suite_;
  std::unordered_map<std::string, CaseEvidence*> by_id_, by_file_;
  std::vector<std::vector<RunStatistics>> levels_;  // per case
  std::map<std::string, Canaries> canaries_;        // by run
};

}  // namespace

std::vector<CaseEvidence> stage_one(const Report& report) {
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
  const RunRecord* run = last_run(report);
  if (run == nullptr) return StoredSuite{};
  StoreLookup lookup(*run, cases);
  const std::string own = BaselineStore::case_file(run->environment.machine_class, "").folder_name;
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreFile> files, store.list());
  for (const StoreFile& file : files) {
    if (file.folder_name != own) continue;
    BENCH_ASSIGN_OR_RETURN(const BaselineHistory history, store.read(file));
    lookup.take(file.file_name, history);
  }
  for (const StoreFile& file : files) {
    if (file.folder_name == own || !lookup.misses(file.file_name)) continue;
    BENCH_ASSIGN_OR_RETURN(const BaselineHistory history, store.read(file));
    lookup.take_foreign(history);
  }
  return std::move(lookup).finish();
}

std::optional<MachineDrift> machine_moved(std::span<const CanaryRecord> run,
                                          std::span<const Canaries> stored, double limit) {
  std::optional<MachineDrift> worst;
  for (const CanaryField& canary : kCanaryFields) {
    std::vector<double> before;
    for (const Canaries& times : stored) {
      if (const auto log = log_time(times.*canary.time)) before.push_back(*log);
    }
    const std::optional<CanaryLevel> level = compute_level(before);
    const double allowed =
        std::max(std::log1p(limit), level ? kCanaryDeviations * level->deviation : 0);
    std::vector<double> now;
    for (const CanaryRecord& record : run) {
      if (const auto log = log_time(record.time.*canary.time)) now.push_back(*log);
    }
    if (now.empty()) continue;
    const auto [low, high] = std::ranges::minmax_element(now);
    consider(worst, *high - *low, allowed, canary.name, "during the run");
    if (level)
      consider(worst, *median(now) - level->center, allowed, canary.name, "since the store");
  }
  return worst;
}

}  // namespace bench
