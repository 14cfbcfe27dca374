// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/profile_source.hpp"
#include "harness/cli/stored_ceilings.hpp"
#include "harness/config/work_file.hpp"
#include "harness/store/store.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/analysis/profile_diff.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/steps.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/analysis/table_format.hpp"
#include "profiler/gpu/measuring_kernels.hpp"
#include "profiler/profile_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

Result<AnalysisOptions> make_analysis_options(const Arguments& arguments) {
  AnalysisOptions options = arguments.analysis;
  options.devices = arguments.devices;
  options.format = arguments.format;
  if (arguments.output == Output::json) options.format = "json";
  BENCH_RETURN_IF_ERROR(check_options(options));
  return options;
}

AnalysisTarget make_target(Env& env) {
  AnalysisTarget target;
  target.out = env.out;
  if (const auto width = limited_width(env)) {
    target.terminal_width = static_cast<std::int64_t>(*width);
  }
  target.folder = scratch_folder(env);
  return target;
}

constexpr std::array<std::string_view, 5> kSummarySortNames = {"total", "mean", "min", "max",
                                                               "count"};

// Sets the sort key and order of a summary from "count" (descending) or "+count" (ascending).
Status set_order(std::string_view text, SummaryOptions& options) {
  if (text.starts_with('+')) {
    options.order = SortOrder::ascending;
    text.remove_prefix(1);
  }
  const auto found = std::ranges::find(kSummarySortNames, text);
  if (found == kSummarySortNames.end()) {
    return Error{fmt::format("unknown order {} of a summary", quote(text)), "--order-by",
                 expectation(text, kSummarySortNames)};
  }
  options.sort = static_cast<SummarySort>(found - kSummarySortNames.begin());
  return Done{};
}

// Returns an error if an option selects activities or columns, because a summary covers all
// activities.
Result<SummaryOptions> make_summary_options(const Arguments& arguments) {
  AnalysisOptions unsupported = arguments.analysis;
  SummaryOptions options;
  options.top = static_cast<std::size_t>(std::exchange(unsupported.top, std::nullopt).value_or(0));
  if (const auto order = std::exchange(unsupported.order_by, std::nullopt)) {
    BENCH_RETURN_IF_ERROR(set_order(*order, options));
  }
  if (!(unsupported == AnalysisOptions{}) || !arguments.devices.empty() || arguments.work ||
      arguments.baseline) {
    return Error{"--summary accepts only --top, --order-by, --format and --json", "",
                 "omit --summary to filter, group and choose columns"};
  }
  return options;
}

// Maximum size of a file with the user's formulas, which are written by hand.
constexpr std::int64_t kMaxWorkFileBytes = 1'000'000;

// Returns the formulas of --work, which extend the built-in ones. An error contains the first
// diagnostic of the file and the number of the others.
Result<WorkProvider> read_work_provider(const Arguments& arguments) {
  if (!arguments.work) return ops::make_work_provider();
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(*arguments.work, kMaxWorkFileBytes));
  auto provider = read_work_file(text, *arguments.work, ops::make_work_provider());
  if (provider.ok()) return *std::move(provider);
  const std::vector<Diagnostic>& diagnostics = provider.error();
  Error error{diagnostics.front().message(), "", ""};
  if (const std::size_t others = diagnostics.size() - 1; others > 0)
    error.next = pluralise(others, "more error");
  return error;
}

// Separates messages from the table above them if both are on a terminal.
void separate_messages(const ReadReport& report, Env& env) {
  const bool has_messages =
      report.ignored + report.malformed + report.unknown + report.library_errors > 0 ||
      !report.notes.empty();
  if (!has_messages || !env.out_is_terminal || !env.err_is_terminal) return;
  *env.out << std::flush;
  print_sentence(env, "");
}

// The audit covers all activities, so it has no options that select some.
Status audit_files(const Arguments& arguments, Env& env) {
  AnalysisOptions unsupported = arguments.analysis;
  if (!(unsupported == AnalysisOptions{}) || !arguments.devices.empty() || arguments.work ||
      arguments.baseline) {
    return Error{"--audit accepts only --format and --json", "",
                 "omit --audit to filter, group and choose columns"};
  }
  const bool is_json = arguments.output == Output::json;
  const std::string format = is_json ? "json" : arguments.format.value_or("table");
  // An unknown format is an error before anything is read.
  BENCH_RETURN_IF_ERROR(format_audit({}, format, std::nullopt));
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(arguments.inputs, arguments.align));
  ProfileAuditor auditor;
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, set.read(auditor));
  BENCH_ASSIGN_OR_RETURN(const std::string text,
                         format_audit(auditor.finish(report), format, limited_width(env)));
  *env.out << text;
  separate_messages(report, env);
  report_losses("analyze", report, arguments.verbosity, env);
  return Done{};
}

Status summarise_files(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(SummaryOptions options, make_summary_options(arguments));
  options.width = limited_width(env);
  const std::string format = arguments.format.value_or("table");
  const bool is_json = arguments.output == Output::json || format == "json";
  if (!is_json && format != "table") {
    return Error{fmt::format("unknown format {} of a summary", quote(format)), "--format",
                 "expected table or json"};
  }
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(arguments.inputs, arguments.align));
  Summary summary;
  MeasuringKernelFilter shown(summary);
  ProfileAuditor auditor(&shown);
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, set.read(auditor));
  summary.set_start_times(report.starts);
  const ProfileAudit audit = auditor.finish(report);
  *env.out << (is_json ? summary_json(summary, audit, options)
                       : format_verdict(audit, options.width) + "\n" +
                             format_summary(summary, options));
  separate_messages(report, env);
  report_losses("analyze", report, arguments.verbosity, env);
  report_statements("analyze", set.statements(), arguments.verbosity, env);
  if (const std::string note = shown.note(); !note.empty())
    print_sentence(env, fmt::format("bench analyze: {}", note));
  return Done{};
}

// Whether the format has no place for sentences.
bool shows_answers_beside(const Arguments& arguments) {
  const auto format = analysis::find_table_format(
      arguments.output == Output::json ? "json" : arguments.format.value_or("table"));
  return format.ok() && (*format)->answer == analysis::TableFormat::Answer::beside;
}

// Prints what has no place in the table.
void report_outcome(const AnalysisOutcome& outcome, const Arguments& arguments, Env& env) {
  separate_messages(outcome.report, env);
  if (!outcome.audit.rows.empty() && shows_answers_beside(arguments) &&
      arguments.verbosity == Verbosity::normal)
    print_sentence(env, fmt::format("bench analyze: {}", describe_audit(outcome.audit)));
  if (!outcome.answer.empty() && arguments.verbosity == Verbosity::normal)
    print_sentence(env, fmt::format("bench analyze: {}", outcome.answer));
  report_losses("analyze", outcome.report, arguments.verbosity, env);
  for (const std::string& note : outcome.notes)
    print_sentence(env, fmt::format("bench analyze: {}", note));
}

Status tabulate_files(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const AnalysisOptions options, make_analysis_options(arguments));
  BENCH_ASSIGN_OR_RETURN(const WorkProvider work, read_work_provider(arguments));
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(arguments.inputs, arguments.align));
  CeilingKnowledge ceilings;
  if (needs_ceilings(options)) {
    // Several files may be of several machines.
    ceilings = set.size() == 1 ? find_row_ceilings(arguments.inputs.front(), set.first(),
                                                   store_folder(arguments.baseline), options)
                               : CeilingKnowledge{{}, "Ceilings are shown only for a single file."};
  }
  BENCH_ASSIGN_OR_RETURN(const AnalysisOutcome outcome,
                         analyze(set.input(), work, ceilings, options, make_target(env)));
  report_outcome(outcome, arguments, env);
  return Done{};
}

// Returns an error if an option selects activities or columns.
Status refuse_query_options(std::string_view option, const Arguments& arguments) {
  AnalysisOptions unsupported = arguments.analysis;
  unsupported.top.reset();
  unsupported.width.reset();
  if (unsupported == AnalysisOptions{} && arguments.devices.empty() && !arguments.work)
    return Done{};
  return Error{fmt::format("{} accepts only --top, --width, --format, --json and --align", option),
               "", fmt::format("omit {} to filter, group and choose columns", option)};
}

Status tabulate_steps(const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(refuse_query_options("--steps", arguments));
  BENCH_ASSIGN_OR_RETURN(const AnalysisOptions options, make_analysis_options(arguments));
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(arguments.inputs, arguments.align));
  // Without a name, the ranges of other profilers are steps, too.
  const std::string& name = *arguments.steps;
  BENCH_ASSIGN_OR_RETURN(const AnalysisOutcome outcome,
                         analyze_steps(set.input(), name == analysis::kStepNames[0] ? "" : name,
                                       options, make_target(env)));
  report_outcome(outcome, arguments, env);
  return Done{};
}

Status diff_profiles(const Arguments& arguments, Env& env) {
  if (arguments.inputs.size() > 1) {
    return Error{"compares one profile with one other", "--against",
                 "name one FILE; --aggregate-by rank compares the ranks of several files"};
  }
  if (arguments.align == Alignment::start) {
    return Error{"does not apply to --against, which compares durations only", "--align",
                 "omit it"};
  }
  BENCH_ASSIGN_OR_RETURN(const AnalysisOptions options, make_analysis_options(arguments));
  BENCH_ASSIGN_OR_RETURN(const WorkProvider work, read_work_provider(arguments));
  const std::vector<std::string> paths = {arguments.inputs.front(), *arguments.against};
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(paths, Alignment::clock));
  BENCH_ASSIGN_OR_RETURN(
      const AnalysisOutcome outcome,
      compare_profiles(set.input(0), set.input(1), work, options, make_target(env)));
  report_outcome(outcome, arguments, env);
  return Done{};
}

// What `analyze` prints instead of a query.
struct AnalysisView {
  std::string_view option;
  bool (*is_requested)(const Arguments& arguments);
  Status (*print)(const Arguments& arguments, Env& env);
};
constexpr std::array<AnalysisView, 4> kAnalysisViews = {
    {{"--audit", [](const Arguments& a) { return a.audit; }, audit_files},
     {"--summary", [](const Arguments& a) { return a.summary; }, summarise_files},
     {"--steps", [](const Arguments& a) { return a.steps.has_value(); }, tabulate_steps},
     {"--against", [](const Arguments& a) { return a.against.has_value(); }, diff_profiles}}};

Status analyze_files(const Arguments& arguments, Env& env) {
  const AnalysisView* requested = nullptr;
  for (const AnalysisView& view : kAnalysisViews) {
    if (!view.is_requested(arguments)) continue;
    if (requested != nullptr) {
      return Error{fmt::format("cannot be combined with {}", view.option),
                   std::string(requested->option), "give one of them"};
    }
    requested = &view;
  }
  return requested != nullptr ? requested->print(arguments, env) : tabulate_files(arguments, env);
}

}  // namespace

ExitStatus analyze_command(const Arguments& arguments, Env& env) {
  const Status status = analyze_files(arguments, env);
  if (status.ok()) return ExitStatus::success;
  return fail("analyze", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
