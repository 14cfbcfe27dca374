// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/history_source.hpp"
#include "harness/host/system_files.hpp"
#include "harness/judge/trend.hpp"
#include "harness/report/trend_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

struct StoredTrends {
  std::vector<CaseTrend> trends;      // by machine class, then by case
  std::vector<std::string> problems;  // files and lines that were not read
};

Result<StoredTrends> read_trends(HistorySource& source) {
  BENCH_ASSIGN_OR_RETURN(SourceHistories histories, source.read());
  StoredTrends stored{{}, std::move(histories.problems)};
  for (const auto& [name, of_class] : histories.classes)
    std::ranges::move(compute_trends(of_class, {}), std::back_inserter(stored.trends));
  return stored;
}

Error unknown_case(const std::vector<CaseTrend>& trends, const std::string& id,
                   const HistorySource& source) {
  std::vector<std::string_view> ids;
  for (const CaseTrend& trend : trends) ids.push_back(trend.id);
  return unknown_stored_case(ids, id, source.name());
}

// Keeps the trends of cases that --filter selects and that the operands name, if there are
// operands. Returns an error if the store does not contain a named case.
Status select_trends(const Arguments& arguments, const HistorySource& source,
                     std::vector<CaseTrend>& trends) {
  BENCH_ASSIGN_OR_RETURN(const IdSelection selection, IdSelection::compile(arguments.filters));
  for (const std::string& id : arguments.inputs) {
    if (std::ranges::find(trends, id, &CaseTrend::id) == trends.end())
      return unknown_case(trends, id, source);
  }
  std::erase_if(trends, [&](const CaseTrend& trend) {
    const bool is_named = arguments.inputs.empty() ||
                          std::ranges::find(arguments.inputs, trend.id) != arguments.inputs.end();
    return !is_named || !selection.has(trend.id);
  });
  return Done{};
}

TrendView make_view(const Arguments& arguments, const HistorySource& source, const Env& env) {
  TrendView view;
  view.since = arguments.since;
  view.program = arguments.program;
  view.list_command = source.list_command();
  view.show_command = source.show_command();
  view.store_option = source.option();
  view.glyphs = console_glyphs(env);
  view.has_program = [](const TrendRun& run) {
    return !run.program_digest.empty() && digest_file(run.program) == run.program_digest;
  };
  return view;
}

// Formats the sentence that replaces an empty table.
std::string format_empty_history(const std::vector<CaseTrend>& trends, const TrendView& view,
                                 const HistorySource& source) {
  if (trends.empty())
    return fmt::format("No stored run of such a case in {}; store accepted runs with `{}`.",
                       source.name(), source.save_command());
  std::string last_time;
  for (const CaseTrend& trend : trends)
    last_time = std::max(last_time, trend.points.back().run.time);
  return fmt::format("No run since {}: the last one is of {}.", view.since.value_or(""), last_time);
}

std::string format_history(const std::vector<ShownTrend>& shown, const Arguments& arguments,
                           const TrendView& view, const ConsoleOptions& console) {
  if (arguments.inputs.empty()) return format_trends(shown, view, console);
  std::string text;
  for (const ShownTrend& entry : shown)
    text += (text.empty() ? "" : "\n") + format_trend_detail(entry, view, console);
  return text;
}

ExitStatus history_exit_status(const std::vector<ShownTrend>& shown, const Arguments& arguments) {
  if (arguments.fail_on == FailOn::nothing) return ExitStatus::success;
  if (std::ranges::any_of(shown, &ShownTrend::is_slower_now)) return ExitStatus::regression;
  // A check in CI must not pass if no case was searched for changes.
  const bool is_searched =
      std::ranges::any_of(shown, [](const ShownTrend& entry) { return entry.trend().is_searched; });
  if (!is_searched) return ExitStatus::nothing_comparable;
  const bool is_undecided = arguments.fail_on == FailOn::pending &&
                            std::ranges::any_of(shown, &ShownTrend::may_be_slower);
  return is_undecided ? ExitStatus::undecided : ExitStatus::success;
}

Result<ExitStatus> show_history(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<HistorySource> source,
                         HistorySource::open(arguments));
  BENCH_ASSIGN_OR_RETURN(StoredTrends stored, read_trends(*source));
  BENCH_RETURN_IF_ERROR(select_trends(arguments, *source, stored.trends));
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& problem : stored.problems)
      print_sentence(env, "bench history: " + problem);
  }
  const TrendView view = make_view(arguments, *source, env);
  ConsoleOptions console = console_options(env);
  console.notes = note_view(arguments);
  const std::vector<ShownTrend> shown = shown_trends(stored.trends, view);
  if (arguments.output == Output::json) {
    *env.out << trends_json(shown);
  } else if (shown.empty()) {
    *env.out << wrap(format_empty_history(stored.trends, view, *source), console.width, 0);
  } else {
    *env.out << format_history(shown, arguments, view, console);
  }
  return history_exit_status(shown, arguments);
}

// Refuses options that would be ignored.
Status check_options(const Arguments& arguments) {
  const HistoryArguments& history = arguments.history;
  if (!history.database && (history.save || history.list))
    return Error{"needs --db URL", history.save ? "--save" : "--list",
                 "for example --db sqlite:history.db; the store in git has `bench baseline save` "
                 "and `bench baseline list`"};
  if (!history.save && (!arguments.reason.empty() || arguments.anchor))
    return Error{"needs --save", arguments.anchor ? "--anchor" : "--reason",
                 "it describes runs that are stored"};
  return Done{};
}

Result<ExitStatus> run_history(const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(check_options(arguments));
  if (arguments.history.save) return save_history(arguments, env);
  if (arguments.history.list) return list_history(arguments, env);
  return show_history(arguments, env);
}

}  // namespace

ExitStatus history_command(const Arguments& arguments, Env& env) {
  const Result<ExitStatus> status = run_history(arguments, env);
  if (status.ok()) return *status;
  return fail("history", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
