// SPDX-License-Identifier: Apache-2.0
// `bench baseline save` and `accept`: store the runs of result files.
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/judge/change.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/store/from_report.hpp"
#include "harness/store/history.hpp"
#include "harness/store/iteration_sink.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>

namespace bench {
namespace {

// What happened to one case.
struct SaveOutcome {
  std::string id;
  std::string result;  // "saved", "known", "refused"
  std::optional<std::int64_t> epoch;
  std::string path;    // path of the case's file in the store
  std::string reason;  // why the case was refused
};

// The outcomes of all cases of all result files.
struct SaveReport {
  std::vector<SaveOutcome> cases;
  std::vector<std::string> warnings;
  std::size_t doubtful = 0;  // number of refused cases that --force or `accept` would store
  std::ptrdiff_t count(std::string_view result) const {
    return std::ranges::count(cases, result, &SaveOutcome::result);
  }
};

// Returns one profiled iteration of each case; key: case id. Adds a warning if the activities
// cannot be read.
std::map<std::string, StoredProfile> read_profiles(const Report& report, const std::string& path,
                                                   SaveReport& save_report) {
  if (report.profile_passes.empty()) return {};
  IterationSink sink;
  const auto read = [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<TextSource> source, open_profile(path));
    BENCH_ASSIGN_OR_RETURN(const ReadReport unused, read_activities(*source, sink));
    static_cast<void>(unused);
    return Done{};
  };
  if (const Status status = read(); !status)
    save_report.warnings.push_back("no profile is stored: " + status.error().message());
  return sink.profiles();
}

SaveOutcome make_save_outcome(const BaselineRecord& record, const Appended& appended) {
  switch (appended.result) {
    case Appended::Result::appended:
      return {record.measured.id, "saved", appended.epoch, appended.path, ""};
    case Appended::Result::duplicate:
      return {record.measured.id, "known", appended.epoch, appended.path, ""};
    case Appended::Result::refused:
      return {record.measured.id, "refused", std::nullopt, appended.path, appended.reason};
  }
  return {};
}

// Why a case should not be added to the current epoch.
struct Doubt {
  enum class Kind {
    clear,     // `save` refuses the case without --force
    possible,  // `save` only warns
  };
  Kind kind = Kind::clear;
  std::string reason;
};

// Slowdowns without an interval are clear from this one on, if the stored runs vary less.
constexpr double kClearSlowdown = 0.2;
constexpr double kClearSigmas = 10;

// Returns the variables of the library that differ from those of the last stored run; empty if none
// does.
std::string describe_other_variables(const BaselineRecord& last, const BaselineRecord& now) {
  std::vector<Change> changes = changes_between(last.environment.details, now.environment.details);
  std::erase_if(changes,
                [](const Change& change) { return !change.field.starts_with(kVariableDetail); });
  return changes.empty() ? "" : "was measured in another environment: " + format_changes(changes);
}

// Returns a doubt if the case is slower than the last stored run, by the rules of the column `vs
// baseline`. It is clear if the lower bound exceeds the tolerance and the run-to-run variation.
std::optional<Doubt> doubt_slower(const BaselineHistory& history, const ComparedCase& compared) {
  if (!compared.ratio) return std::nullopt;
  const double spread =
      between_run_sigma(run_differences(run_statistics(history.records).runs)).value_or(0);
  const double effect = std::log(*compared.ratio);
  const bool is_clear =
      compared.low ? std::log(*compared.low) > std::log1p(ComparisonOptions{}.tolerance) + spread
                   : effect > std::max(std::log1p(kClearSlowdown), kClearSigmas * spread);
  const bool is_slower = compared.verdict == CaseVerdict::slower;
  if (!is_clear && !is_slower) return std::nullopt;
  return Doubt{
      is_clear ? Doubt::Kind::clear : Doubt::Kind::possible,
      format_effect(*compared.ratio, compared.low, compared.high, EffectDirection::certain) +
          " than the last stored run"};
}

// Returns the doubts about the records, by case id. Call this before they are stored. Ignores what
// cannot be read, because BaselineStore::append() reports it. A run that the store has already is
// beyond doubt.
std::map<std::string, Doubt> find_doubts(const Report& report,
                                         const std::vector<BaselineRecord>& records,
                                         const BaselineStore& store) {
  std::map<std::string, Doubt> doubts;
  std::vector<BaselineHistory> histories;
  for (const BaselineRecord& record : records) {
    auto history =
        store.read(BaselineStore::case_file(record.environment.machine_class, record.measured.id));
    if (!history.ok() || history->last() == nullptr) continue;
    if (std::ranges::find(history->records, record.run_id, &BaselineRecord::run_id) !=
        history->records.end())
      continue;
    const BaselineRecord& last = *history->last();
    if (std::string other = describe_other_variables(last, record); !other.empty())
      doubts[record.measured.id] = {Doubt::Kind::clear, std::move(other)};
    histories.push_back(*std::move(history));
  }
  const Comparison comparison = compare(make_measurement(histories, store.folder()),
                                        make_measurement(report, "this run"), {});
  std::map<std::string_view, const BaselineHistory*> by_id;
  for (const BaselineHistory& history : histories)
    by_id.emplace(history.last()->measured.id, &history);
  for (const ComparedCase& compared : comparison.cases) {
    const auto history = by_id.find(compared.id);
    if (history == by_id.end() || doubts.contains(compared.id)) continue;
    if (auto doubt = doubt_slower(*history->second, compared))
      doubts[compared.id] = *std::move(doubt);
  }
  return doubts;
}

// Moves the records with a clear doubt to the refused ones, and warns of the others.
void apply_doubts(const std::map<std::string, Doubt>& doubts, ReportBaselines& baselines,
                  SaveReport& save_report) {
  for (const auto& [id, doubt] : doubts) {
    if (doubt.kind == Doubt::Kind::possible) {
      save_report.warnings.push_back(fmt::format("{}: {}", id, doubt.reason));
      continue;
    }
    baselines.refused.push_back({id, doubt.reason});
    ++save_report.doubtful;
  }
  std::erase_if(baselines.records, [&](const BaselineRecord& record) {
    const auto doubt = doubts.find(record.measured.id);
    return doubt != doubts.end() && doubt->second.kind == Doubt::Kind::clear;
  });
}

Status save_file(const std::string& path, const Arguments& arguments, EpochPolicy policy,
                 SaveReport& save_report) {
  BENCH_ASSIGN_OR_RETURN(const IdSelection selection, IdSelection::compile(arguments.filters));
  BENCH_ASSIGN_OR_RETURN(Report report, read_report(path));
  save_report.warnings.insert(save_report.warnings.end(), report.warnings.begin(),
                              report.warnings.end());
  std::erase_if(report.cases, [&](const CaseRecord& entry) { return !selection.has(entry.id); });
  const BaselineStore store = make_store(arguments);
  if (auto error = store.class_folder()) return *std::move(error);
  ReportBaselines baselines = make_baselines(report, {arguments.reason, arguments.anchor, path},
                                             read_profiles(report, path, save_report));
  if (policy == EpochPolicy::current && !arguments.force)
    apply_doubts(find_doubts(report, baselines.records, store), baselines, save_report);
  for (BaselineRecord& record : baselines.records) {
    BENCH_ASSIGN_OR_RETURN(const Appended appended, store.append(record, policy));
    save_report.cases.push_back(make_save_outcome(record, appended));
    save_report.warnings.insert(save_report.warnings.end(), appended.problems.begin(),
                                appended.problems.end());
  }
  for (RefusedCase& refused : baselines.refused)
    save_report.cases.push_back(
        {refused.id, "refused", std::nullopt, "", std::move(refused.reason)});
  return Done{};
}

std::string format_save_report(const SaveReport& save_report, const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {
      {"case", Align::left, kMinId}, {"result"}, {"epoch", Align::right}};
  std::vector<TextRow> rows;
  for (const SaveOutcome& entry : save_report.cases) {
    const std::string epoch = entry.epoch ? std::to_string(*entry.epoch) : "";
    rows.push_back({{{entry.id}, {entry.result}, {epoch}}, entry.reason});
  }
  shorten_ids(rows);
  return render_table(columns, rows, console.width, console.colour);
}

std::string format_save_report_json(const SaveReport& save_report) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", save_report.cases, [](JsonWriter& row, const SaveOutcome& entry) {
      row.required("id", entry.id);
      row.required("result", entry.result);
      row.optional("epoch", entry.epoch);
      row.optional("path", entry.path);
      row.optional("reason", entry.reason);
    });
  });
}

Result<ExitStatus> save_all(const Arguments& arguments, EpochPolicy policy, Env& env) {
  SaveReport save_report;
  Status status = Done{};
  for (const std::string& path : arguments.inputs) {
    status = save_file(path, arguments, policy, save_report);
    if (!status) break;
  }
  // The output also shows cases that were saved before an error: they stay saved.
  if (status.ok() || !save_report.cases.empty())
    *env.out << (arguments.output == Output::json
                     ? format_save_report_json(save_report)
                     : format_save_report(save_report, console_options(env)));
  BENCH_RETURN_IF_ERROR(std::move(status));
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& warning : save_report.warnings)
      print_sentence(env, "bench baseline: " + warning);
    print_sentence(env, fmt::format("{} saved in {}, {} known before, {} refused",
                                    save_report.count("saved"), make_store(arguments).folder(),
                                    save_report.count("known"), save_report.count("refused")));
  }
  if (save_report.doubtful > 0) {
    print_sentence(env,
                   fmt::format("bench baseline: {} slower or of another environment and not saved; "
                               "if this is intended, store {} with `bench baseline accept`, which "
                               "opens an epoch, or with --force",
                               pluralise(save_report.doubtful, "case is", "cases are"),
                               save_report.doubtful == 1 ? "it" : "them"));
    return ExitStatus::regression;
  }
  if (save_report.count("saved") + save_report.count("known") > 0) return ExitStatus::success;
  return Error{"none of the cases can become a baseline", arguments.inputs.front(),
               save_report.cases.empty() ? "it contains none, or --filter excludes all"
                                         : "the table says why"};
}

}  // namespace

Result<ExitStatus> save_baselines(const Arguments& arguments, Env& env) {
  return save_all(arguments, EpochPolicy::current, env);
}

Result<ExitStatus> accept_baselines(const Arguments& arguments, Env& env) {
  return save_all(arguments, EpochPolicy::new_epoch, env);
}

}  // namespace bench
