// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/fleet_report.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/profile_source.hpp"
#include "harness/cli/replay_report.hpp"
#include "harness/config/selection.hpp"
#include "harness/judge/equal_sides.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/layer_table.hpp"
#include "harness/report/page.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/result/shard_coverage.hpp"
#include "harness/store/store.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/memory_flow.hpp"
#include "profiler/export/timeline_page.hpp"
#include "profiler/profile_set.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

// Reads all files as one text: shards and resumed runs are merged by concatenation.
Result<std::string> read_result_texts(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    // An incomplete last line of the last file stays one.
    if (!text.empty() && text.back() != '\n') text += '\n';
    const std::size_t begin = text.size();
    BENCH_RETURN_IF_ERROR(append_result_text(path, {}, text));
    if (text.find_first_not_of(" \t\r\n", begin) == std::string::npos) {
      return Error{"is empty", path, "name a file that `bench run` wrote"};
    }
  }
  return text;
}

// Returns the format with the longest matching suffix, because `.gbench.json` also ends with
// `.json`. Returns nullptr if no suffix matches.
const ReportFormat* find_format_by_suffix(std::string_view file) {
  const ReportFormat* found = nullptr;
  for (const ReportFormat& format : report_formats()) {
    if (!file.ends_with(format.suffix)) continue;
    if (found == nullptr || format.suffix.size() > found->suffix.size()) found = &format;
  }
  return found;
}

Result<const ReportFormat*> choose_report_format(const Arguments& arguments) {
  if (!arguments.format && arguments.out) {
    if (const ReportFormat* format = find_format_by_suffix(*arguments.out)) return format;
    return Error{
        fmt::format("the suffix of {} is not that of a known format", quote(*arguments.out)), "",
        "add --format NAME"};
  }
  const std::string name = arguments.format.value_or("text");
  std::vector<std::string_view> names;
  for (const ReportFormat& format : report_formats()) {
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return Error{fmt::format("unknown format {}", quote(name)), "", expectation(name, names)};
}

// Applies --filter, --sort and --top, in this order.
Status arrange_cases(const Arguments& arguments, Report& report) {
  if (!arguments.filters.empty()) {
    std::vector<std::string> ids;
    for (const std::string& filter : arguments.filters) {
      BENCH_ASSIGN_OR_RETURN(const IdPattern pattern, IdPattern::compile(filter));
      for (const CaseRecord& record : report.cases) {
        if (pattern.matches(record.id)) ids.push_back(record.id);
      }
    }
    if (ids.empty()) {
      return Error{"no case of the report matches", "--filter",
                   "`bench report RESULT --columns case` lists the ids"};
    }
    keep_cases(ids, report);
  }
  if (arguments.analysis.order_by) {
    BENCH_RETURN_IF_ERROR(sort_cases(*arguments.analysis.order_by, report.cases));
  }
  keep_top_cases(arguments.analysis.top.value_or(0), report);
  return Done{};
}

// Returns an error if the format would have to ignore an option.
Status check_report_options(const ReportFormat& format, const Arguments& arguments) {
  if (format.columns == ReportFormat::Columns::fixed && !arguments.analysis.columns.empty()) {
    return Error{fmt::format("the format `{}` has no columns to choose", format.name), "--columns",
                 "choose --format text, md, csv or html"};
  }
  if (arguments.report.wide && format.name != "csv") {
    return Error{fmt::format("the format `{}` has no wide form", format.name), "--wide",
                 "choose --format csv"};
  }
  return Done{};
}

Existing existing_policy(const Arguments& arguments) {
  return arguments.force ? Existing::replace : Existing::refuse;
}

// Writes the report to --out or to standard output. `cases` is the number of cases in the report;
// nullopt: it is not a report of cases.
Status write_output(const std::string& output, std::optional<std::size_t> cases,
                    const Arguments& arguments, Env& env) {
  if (!arguments.out) {
    *env.out << output;
    return Done{};
  }
  BENCH_RETURN_IF_ERROR(write_file(*arguments.out, output, existing_policy(arguments)));
  if (arguments.verbosity == Verbosity::normal) {
    const std::string what =
        cases ? fmt::format("{} in {}", pluralise(*cases, "case"), *arguments.out)
              : fmt::format("wrote {}", *arguments.out);
    print_sentence(env, fmt::format("bench report: {}", what));
  }
  return Done{};
}

// Writes the plots that have data to the folder of --plots.
Status write_plots(const std::vector<Plot>& plots, const Arguments& arguments, Env& env) {
  if (!arguments.report.plots) return Done{};
  const std::string& folder = *arguments.report.plots;
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return Error{fmt::format("cannot make the folder: {}", code.message()), folder, ""};
  std::size_t written = 0;
  for (const Plot& plot : plots) {
    if (!plot.absent.empty()) {
      print_sentence(env, fmt::format("bench report: no plot `{}`: {}", plot.name, plot.absent));
      continue;
    }
    const std::string path = fmt::format("{}/{}.svg", folder, store_name(plot.name));
    BENCH_RETURN_IF_ERROR(write_file(path, standalone_svg(plot.wide), existing_policy(arguments)));
    ++written;
  }
  print_sentence(env, fmt::format("bench report: {} in {}", pluralise(written, "plot"), folder));
  return Done{};
}

ConsoleOptions report_console(const Arguments& arguments, Env& env) {
  // In a file, tables have the default width, which fits a mail or a log.
  ConsoleOptions console = arguments.out ? ConsoleOptions{} : console_options(env);
  console.notes = note_view(arguments);
  return console;
}

// Forwards each activity to all sinks.
class AllSinks final : public ActivitySink {
 public:
  explicit AllSinks(std::vector<ActivitySink*> sinks) : sinks_(std::move(sinks)) {}
  Status consume(const Activity& activity) override {
    for (ActivitySink* sink : sinks_) BENCH_RETURN_IF_ERROR(sink->consume(activity));
    return Done{};
  }

 private:
  std::vector<ActivitySink*> sinks_;
};

// Maximum size of a page that the report contains. A report with larger pages would open slowly;
// `bench trace` writes them as separate files.
constexpr std::size_t kMaxEmbeddedBytes = 16'000'000;

// The parts of a report that come from profiles.
struct ProfileParts {
  LayerTimes times;
  std::string timeline, memory;
};

// Reads the profiles of all files. Streams the activities, because they may be larger than the
// memory.
Result<ProfileParts> read_profile(const std::vector<std::string>& paths, Env& env) {
  ProfileParts parts;
  TraceOptions options;
  options.title = fmt::format("{}", fmt::join(paths, " "));
  const auto trace = ChromeTrace::to(timeline_page_bytes(options.title, text_bytes(parts.timeline)),
                                     scratch_folder(env), options);
  const auto memory = MemoryFlow::to(parts.memory);
  AllSinks all({&parts.times, trace.get(), memory.get()});
  BeginRecordMerger merger(all);
  BENCH_ASSIGN_OR_RETURN(PassChoice choice, choose_passes(paths));
  PassSelection passes;
  passes.choose(std::move(choice));
  for (const std::string& path : paths) {
    BENCH_ASSIGN_OR_RETURN(const auto source, open_text(path));
    source->set_work_factory(operator_work());
    source->share(passes);
    const auto report = read_activities(*source, merger);
    if (!report) return report.error();
  }
  BENCH_RETURN_IF_ERROR(merger.finish());
  BENCH_RETURN_IF_ERROR(trace->finish());
  BENCH_RETURN_IF_ERROR(memory->finish());
  if (parts.timeline.size() > kMaxEmbeddedBytes) parts.timeline.clear();
  if (parts.memory.size() > kMaxEmbeddedBytes || memory->drawn() == 0) parts.memory.clear();
  return parts;
}

// Returns the files that `run` wrote next to its results (docs/profiler.md), for links in the
// report. The paths are relative to the folder of the report. Empty if the report goes to standard
// output.
std::vector<std::string> find_files_beside(const std::vector<std::string>& results,
                                           const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> kSuffixes = {".memory_flow.svg", ".trace.json",
                                                         ".timeline.html"};
  std::vector<std::string> paths;
  if (!arguments.out) return paths;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(*arguments.out).parent_path();
  for (const std::string& result : results) {
    const std::filesystem::path stem = std::filesystem::path(result).replace_extension();
    for (const std::string_view suffix : kSuffixes) {
      const std::filesystem::path file = stem.string() + std::string(suffix);
      if (!std::filesystem::is_regular_file(file, ignored)) continue;
      paths.push_back(std::filesystem::absolute(file).lexically_relative(folder).string());
    }
  }
  return paths;
}

// Prints what shards lack, unless the report itself says it.
void print_shard_problems(const ShardCoverage& coverage, const ReportFormat& format,
                          const Arguments& arguments, Env& env) {
  const bool is_in_report = coverage.shards > 1 && format.name == "text" && !arguments.out;
  if (is_in_report) return;
  for (const std::string& problem : coverage.problems)
    print_sentence(env, "bench report: " + problem);
}

// The files of several shards are to be a whole plan. One file is a part as expected.
ExitStatus shard_status(const ShardCoverage& coverage) {
  const bool lacks_cases = coverage.shards > 1 && coverage.gaps > 0;
  return lacks_cases ? ExitStatus::not_measured : ExitStatus::success;
}

// Returns an error with the formats that a report can have if that of a file is unknown.
Status check_formats(const std::vector<std::string>& paths) {
  std::error_code ignored;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    BENCH_ASSIGN_OR_RETURN(const auto source, open_text(path));
    const auto reader = find_reader(*source);
    if (!reader.ok()) return reader.error();
  }
  return Done{};
}

Result<ExitStatus> write_run(const std::string& text, const std::vector<std::string>& paths,
                             const std::string& name, const ReportFormat& format,
                             const Arguments& arguments, Env& env) {
  Result<Report> parsed = parse_report(text, name);
  if (!parsed.ok()) {
    BENCH_RETURN_IF_ERROR(check_formats(paths));
    return std::move(parsed).error();
  }
  Report& report = *parsed;
  for (const std::string& warning : report.warnings)
    print_sentence(env, fmt::format("bench report: {}", warning));
  const ShardCoverage coverage = check_shards(report);
  print_shard_problems(coverage, format, arguments, env);
  RunView view{report, name};
  view.networks = summarise_networks(report);
  view.cases_in_run = report.cases.size();
  const bool needs_profile = format.name == "html" || arguments.report.plots;
  std::optional<ProfileParts> profile;
  if (needs_profile && !report.profile_passes.empty()) {
    BENCH_ASSIGN_OR_RETURN(profile, read_profile(paths, env));
    view.profile = &profile->times;
    view.timeline = std::move(profile->timeline);
    view.memory = std::move(profile->memory);
  }
  view.files_beside = find_files_beside(paths, arguments);
  BENCH_RETURN_IF_ERROR(arrange_cases(arguments, report));
  BENCH_ASSIGN_OR_RETURN(view.columns, choose_case_columns(arguments.analysis.columns));
  if (arguments.report.wide) view.rows = RunView::Rows::per_case;
  BENCH_RETURN_IF_ERROR(write_output(format.write(view, report_console(arguments, env)),
                                     report.cases.size(), arguments, env));
  if (arguments.report.plots) BENCH_RETURN_IF_ERROR(write_plots(run_plots(view), arguments, env));
  return shard_status(coverage);
}

// Returns the status of a successful report of a kind that is never incomplete.
Result<ExitStatus> succeed(const Status& status) {
  if (!status) return status.error();
  return ExitStatus::success;
}

// Returns an error if an option selects cases or columns, because only reports of runs support
// that.
Status refuse_selection(const Arguments& arguments, std::string_view kind) {
  const std::array<std::pair<std::string_view, bool>, 4> selections = {
      {{"--filter", !arguments.filters.empty()},
       {"--columns", !arguments.analysis.columns.empty()},
       {"--sort", arguments.analysis.order_by.has_value()},
       {"--top", arguments.analysis.top.has_value()}}};
  for (const auto& [option, is_given] : selections) {
    if (!is_given) continue;
    return Error{fmt::format("applies to the cases of a run; the report of a {} shows all of its "
                             "cases",
                             kind),
                 std::string(option), fmt::format("omit {}", option)};
  }
  return Done{};
}

Status write_gate(const std::string& text, const std::string& name, const ReportFormat& format,
                  const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(refuse_selection(arguments, "gate"));
  BENCH_ASSIGN_OR_RETURN(GateFile gate, read_gate_file(text, name));
  gate.program = arguments.program;
  gate.program_path = own_path();
  ExitRules rules;
  const bool is_default_store = gate.facts.store.value_or("") == kDefaultStore;
  rules.save_command = format_save_command(arguments.program, name,
                                           is_default_store ? std::nullopt : gate.facts.store);
  gate.conclusion = conclude(gate, rules);
  // A gate can be reported in each format of a run. GateFormat lists only the formats of the files
  // that a gate writes, and `text` is not one of them.
  const GateFormat* writer = find_gate_format(format.name);
  BENCH_RETURN_IF_ERROR(write_output(writer == nullptr
                                         ? gate_console(gate, {}, report_console(arguments, env))
                                         : writer->write(gate, {}),
                                     gate.judgements.size(), arguments, env));
  return arguments.report.plots ? write_plots(gate_plots(gate), arguments, env) : Status(Done{});
}

Status write_history(const std::string& folder, const ReportFormat& format,
                     const Arguments& arguments, Env& env) {
  auto opened = open_baselines(folder);
  if (!opened.ok() || opened->files.empty()) {
    return Error{opened.ok() ? "contains no baselines" : opened.error().what, folder,
                 "name a result file, the folder of a gate, or a store of baselines"};
  }
  const StoreSelection& selection = *opened;
  BENCH_RETURN_IF_ERROR(refuse_selection(arguments, "store"));
  if (format.name != "html") {
    return Error{fmt::format("a store has no report in the format `{}`", format.name), folder,
                 "choose --format html; `bench baseline list` prints a table"};
  }
  std::vector<BaselineHistory> histories;
  for (const StoreFile& file : selection.files) {
    BENCH_ASSIGN_OR_RETURN(BaselineHistory history, selection.store.read(file));
    histories.push_back(std::move(history));
  }
  BENCH_RETURN_IF_ERROR(
      write_output(history_page(histories, folder), histories.size(), arguments, env));
  return arguments.report.plots ? write_plots(history_plots(histories), arguments, env)
                                : Status(Done{});
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Returns whether the file is a profile, a log or a report of another benchmark: all that `bench
// analyze` reads except results, whose report shows their cases.
bool is_program_profile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto source = open_text(path);
  if (!source.ok()) return false;
  const auto reader = find_reader(**source);
  return reader.ok() && (*reader)->name != "result";
}

struct AuditedProfile {
  StartTimes starts;
  ProfileAudit audit;
};

// Reads the profiles into `sink`, and audits them.
Result<AuditedProfile> replay_profiles(ProfileSet& set, ActivitySink& sink, Env& env,
                                       Verbosity verbosity) {
  BeginRecordMerger merger(sink);
  ProfileAuditor auditor(&merger);
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, set.read(auditor));
  BENCH_RETURN_IF_ERROR(merger.finish());
  report_losses("report", report, verbosity, env);
  report_statements("report", set.statements(), verbosity, env);
  return AuditedProfile{report.starts, auditor.finish(report)};
}

// Reports profiles of programs: the tables of `bench analyze --summary`, which begin with the
// share of the process that they show. The page also has the timeline.
Status write_program_profile(const std::vector<std::string>& paths, const ReportFormat& format,
                             const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(refuse_selection(arguments, "profile"));
  const bool is_page = format.name == "html";
  if (!is_page && format.name != "text" && format.name != "md" && format.name != "json") {
    return Error{
        fmt::format("a profile has no report in the format `{}`", format.name), paths.front(),
        "choose --format text, md, json or html; `bench analyze --format csv` writes rows"};
  }
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(paths, arguments.align));
  const std::string path = set.name();
  std::string timeline;
  TraceOptions trace_options;
  trace_options.title = path;
  const auto trace = ChromeTrace::to(timeline_page_bytes(path, text_bytes(timeline)),
                                     scratch_folder(env), trace_options);
  Summary summary;
  std::vector<ActivitySink*> sinks = {&summary};
  if (is_page) sinks.push_back(trace.get());
  AllSinks all(std::move(sinks));
  BENCH_ASSIGN_OR_RETURN(const AuditedProfile profile,
                         replay_profiles(set, all, env, arguments.verbosity));
  summary.set_start_times(profile.starts);
  SummaryOptions options;
  if (!arguments.out) options.width = limited_width(env);
  std::string output = format.name == "json" ? summary_json(summary, profile.audit, options)
                                             : format_verdict(profile.audit, options.width) + "\n" +
                                                   format_summary(summary, options);
  if (format.name == "md") output = "```text\n" + output + "```\n";
  if (is_page) {
    const auto coverage = summary.attribution().coverage;
    if (coverage) trace->describe("share", describe_coverage(*coverage));
    BENCH_RETURN_IF_ERROR(trace->finish());
    if (timeline.size() > kMaxEmbeddedBytes) timeline.clear();
    output = profile_page({summary, path, std::move(timeline), profile.audit});
  }
  return write_output(output, std::nullopt, arguments, env);
}

// Compares a program with the suite that was imported from it.
Status write_replay(const ReportFormat& format, const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(refuse_selection(arguments, "replay"));
  if (format.name != "text" && format.name != "json") {
    return Error{fmt::format("a replay has no report in the format `{}`", format.name), "",
                 "choose --format text or json"};
  }
  BENCH_ASSIGN_OR_RETURN(const Replay replay, read_replay(arguments));
  const std::size_t width =
      arguments.out ? kUnlimitedWidth : limited_width(env).value_or(kUnlimitedWidth);
  return write_output(
      format.name == "json" ? replay_json(replay) : format_replay(replay, width, Colour::off),
      std::nullopt, arguments, env);
}

// Reports which of several machines is slow.
Result<ExitStatus> write_fleet(const ReportFormat& format, const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const FleetFormat* writer, choose_fleet_format(format.name));
  BENCH_ASSIGN_OR_RETURN(const FleetVerdict verdict, read_fleet(arguments, env));
  FleetView view{arguments.program, arguments.inputs};
  view.top = arguments.analysis.top.value_or(view.top);
  if (view.top == 0) view.top = verdict.machines();
  BENCH_RETURN_IF_ERROR(write_output(writer->write(verdict, view, report_console(arguments, env)),
                                     std::nullopt, arguments, env));
  BENCH_RETURN_IF_ERROR(write_plots(fleet_plots(verdict, view.top), arguments, env));
  return fleet_status(verdict, arguments);
}

Result<ExitStatus> write_report(const Arguments& arguments, Env& env) {
  if (arguments.fail_on != FailOn::nothing && !arguments.by) {
    return Error{"needs --by machine", "--fail-on",
                 "`bench compare` and `bench history` fail on regressions of cases"};
  }
  BENCH_ASSIGN_OR_RETURN(const ReportFormat* format, choose_report_format(arguments));
  BENCH_RETURN_IF_ERROR(check_report_options(*format, arguments));
  // Checks the output before reading results, which may be large.
  if (arguments.out)
    BENCH_RETURN_IF_ERROR(check_output(*arguments.out, existing_policy(arguments)));
  if (arguments.by) return write_fleet(*format, arguments, env);
  if (arguments.report.replay) return succeed(write_replay(*format, arguments, env));
  std::vector<std::string> paths = arguments.inputs;
  std::error_code ignored;
  for (std::string& path : paths) {
    // For the folder of a gate, reads its evidence.
    const std::string evidence = path + "/gate.jsonl";
    if (is_directory(path) && std::filesystem::exists(evidence, ignored)) path = evidence;
  }
  if (paths.size() == 1 && is_directory(paths[0])) {
    return succeed(write_history(paths[0], *format, arguments, env));
  }
  if (std::ranges::any_of(paths, is_program_profile))
    return succeed(write_program_profile(paths, *format, arguments, env));
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_texts(paths));
  const std::string name = paths.size() == 1 ? paths[0] : "(all files)";
  if (is_gate_file(text)) return succeed(write_gate(text, name, *format, arguments, env));
  return write_run(text, paths, name, *format, arguments, env);
}

}  // namespace

ExitStatus report_command(const Arguments& arguments, Env& env) {
  const auto status = write_report(arguments, env);
  return status.ok() ? *status : fail("report", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
