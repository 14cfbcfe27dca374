// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/case_availability.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/option.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/profile_output.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/rough_time.hpp"
#include "harness/cli/shard_choice.hpp"
#include "harness/cli/stored_ceilings.hpp"
#include "harness/cli/turn.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/console.hpp"
#include "harness/report/layer_table.hpp"
#include "harness/report/run_answer.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/run/run.hpp"
#include "harness/run/run_estimate.hpp"
#include "harness/run/schedule.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <unistd.h>

namespace bench {
namespace {

// Maximum number of rows in the table by layer. `bench analyze` prints all layers.
constexpr std::size_t kMaxLayerRows = 20;

// The open result file.
struct Destination {
  FileSink sink;
  std::optional<Report> earlier;  // report of the run to resume; nullopt for a new run
};

// Returns an error if the configuration differs from that of the run to resume, because its cases
// would then have a different meaning.
Status check_resumable(const Report& report, const Plan& plan, const std::string& path) {
  if (report.runs.empty())
    return Error{"has no run record", path, "start a new run without --resume"};
  const std::string& hash = report.runs.front().config_hash;
  if (hash == plan.hash) return Done{};
  return Error{
      fmt::format("was created with another configuration (hash {}, now {})", hash, plan.hash),
      path,
      fmt::format("resume with the files and options of the first run, which was `{}`, or start a "
                  "new run",
                  shell_command("bench", report.runs.front().arguments))};
}

Result<Destination> open_resumed(const std::string& path, const Plan& plan) {
  BENCH_ASSIGN_OR_RETURN(std::string text, read_result_text(path));
  text.resize(text.rfind('\n') == std::string::npos
                  ? 0
                  : text.rfind('\n') + 1);  // RecordFile::reopen also cuts the incomplete line
  // A report is one JSON document of several lines, and appended records would corrupt it.
  if (const std::string_view first_line = std::string_view(text).substr(0, text.find('\n'));
      !first_line.empty() && !first_line.ends_with('}')) {
    return Error{"is not a result file: its first line is not a record", path,
                 "resume the file that `bench run --out` wrote, not a report of it"};
  }
  BENCH_ASSIGN_OR_RETURN(ReportBuilder records, parse_records(text, path));
  Report report = records.report();
  BENCH_RETURN_IF_ERROR(check_resumable(report, plan, path));
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::reopen(path));
  return Destination{FileSink(std::move(file), std::move(records)), std::move(report)};
}

Result<Destination> open_destination(const Arguments& arguments, const Plan& plan,
                                     const std::string& run_id) {
  if (arguments.resume) return open_resumed(*arguments.resume, plan);
  const std::string path =
      arguments.out.value_or(fmt::format("bench-{}-{}.jsonl", file_stem(plan.name), run_id));
  const Existing existing = arguments.force ? Existing::replace : Existing::refuse;
  BENCH_ASSIGN_OR_RETURN(RecordFile file, RecordFile::create(path, existing));
  return Destination{FileSink(std::move(file)), std::nullopt};
}

// Sets the options that determine how long a run takes.
void set_limits(const Arguments& arguments, RunOptions& options) {
  options.budget = arguments.budget;
  options.under = arguments.profile.under;
  options.store = store_folder(arguments.baseline);
}

RunOptions make_run_options(const Arguments& arguments, const std::string& run_id,
                            InterruptWatch& watch) {
  RunOptions options;
  options.worker_program = own_path();
  options.seed = arguments.seed.value_or(options.seed);
  set_limits(arguments, options);
  options.run_id = run_id;
  options.tool_version = std::string(tool_version());
  options.tool_commit = std::string(tool_commit().value_or(""));
  options.arguments = arguments.command_line;
  if (arguments.require_gpu) options.required_device = "cuda";
  options.trace_failures = arguments.profile.trace_failures;
  options.interrupted = [&watch] { return watch.is_interrupted(); };
  return options;
}

// Reduces the plan to the cases of a shard: of the run to resume if there is one, else of --shard.
// Says which they are. Does nothing without a shard.
Status take_part(const Arguments& arguments, const Report* earlier, Plan& plan, RunOptions& options,
                 Env& env) {
  BENCH_ASSIGN_OR_RETURN(std::optional<ShardPart> part, choose_part(plan, arguments, env));
  if (earlier != nullptr) {
    BENCH_ASSIGN_OR_RETURN(part, resume_part(*earlier, plan, std::move(part)));
  }
  if (!part) return Done{};
  options.shard = format_shard(part->shard);
  options.assignment = part->assignment;
  if (arguments.verbosity == Verbosity::normal)
    print_sentence(env, "bench run: " + format_part(*part));
  plan = select_cases(std::move(plan), part->cases);
  return Done{};
}

// Checks the folder of --trace-failures, which gets files only after a case has failed.
Status check_trace_folder(const ProfileArguments& profile) {
  if (!profile.trace_failures) return Done{};
  Status checked = check_output_folder(*profile.trace_failures);
  if (checked) return checked;
  Error error = std::move(checked).error();
  error.next = "choose another folder with --trace-failures";
  return error;
}

bool names_same_file(const std::string& path, const std::optional<std::string>& other) {
  if (!other) return false;
  std::error_code code;
  const auto resolved = [&code](const std::string& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, code), code);
  };
  return resolved(path) == resolved(*other);
}

// Returns an error if options contradict each other. Under another profiler (--under), this program
// does not profile, and the times are not comparable with those of other runs.
Status check_contradictions(const Arguments& arguments) {
  const ProfileArguments& profile = arguments.profile;
  if (profile.trace && (names_same_file(*profile.trace, arguments.out) ||
                        names_same_file(*profile.trace, arguments.resume))) {
    return Error{"is the result file, which the trace would replace", "--trace " + *profile.trace,
                 "choose another name"};
  }
  if (!profile.under) return Done{};
  if (profile.under->find_first_not_of(" \t\n") == std::string::npos)
    return Error{"is empty", "--under", "for example --under 'perf record -o perf.data'"};
  if (profile.mode == ProfileArguments::Mode::enabled || profile.trace || profile.trace_failures)
    return Error{
        "cannot be used with --profile, --trace or --trace-failures: only one profiler at a time",
        "--under", "run twice, once with each"};
  if (arguments.resume)
    return Error{"cannot be used with --resume: profiled times are not comparable", "--under",
                 "omit --resume"};
  return Done{};
}

void print_json(const Report& report, const std::optional<AuditedSummary>& profile, Env& env) {
  *env.out << (profile
                   ? to_json_document(report, summary_json(profile->summary, profile->audit, {}))
                   : to_json_document(report))
           << '\n';
}

// Returns the store to compare with: that of --baseline, or the default one if it has this machine
// class; otherwise nullopt.
std::optional<BaselineStore> choose_store(const Report& report, const Arguments& arguments) {
  BaselineStore store(store_folder(arguments.baseline));
  const bool has_machine_class =
      !report.runs.empty() && store.holds(report.runs.back().environment.machine_class);
  return arguments.baseline || has_machine_class ? std::optional(std::move(store)) : std::nullopt;
}

// Prints the table by layer, other results of the profiling passes, and commands that show more of
// the profile.
Status print_profile(const Report& report, const Arguments& arguments, const std::string& path,
                     Env& env) {
  if (report.profile_passes.empty()) return Done{};
  BENCH_ASSIGN_OR_RETURN(const AuditedLayerTimes profile, read_layer_times(path));
  ConsoleOptions console = console_options(env);
  console.top_layers = kMaxLayerRows;
  const std::string table = layer_table(report, profile.times, console);
  if (!table.empty()) *env.out << '\n' << table;
  const std::string passes = format_profile(report);
  if (!passes.empty()) *env.out << '\n' << format_console_lines(passes, env);
  if (table.empty()) return Done{};
  *env.out << '\n' << format_verdict(profile.audit, console.width);
  const std::string analyze = fmt::format("{} analyze {}", arguments.program, shell_quoted(path));
  *env.out << '\n'
           << wrap(
                  "To ask more of this profile (`--type create`, `--type api` and `--type "
                  "allocation` select other activities):",
                  console.width, 0);
  *env.out << fmt::format(
      "  {} --aggregate-by type\n  {} --summary\n  {} trace {} -o timeline.html\n", analyze,
      analyze, arguments.program, shell_quoted(path));
  return Done{};
}

// Returns the options without which a command on one case of the run would see another operator or
// another store: " --plugin FILE --baseline DIR".
std::string format_context_options(const Plan& plan, const Arguments& arguments) {
  std::string options;
  for (const std::string& plugin : plan.plugins)
    options += fmt::format(" --plugin {}", shell_quoted(plugin));
  if (arguments.baseline)
    options += fmt::format(" --baseline {}", shell_quoted(*arguments.baseline));
  return options;
}

void print_next_commands(const Report& report, const Plan& plan, const Arguments& arguments,
                         const std::string& path, Env& env) {
  const auto found = find_most_interesting_case(report);
  if (!found) return;
  *env.out << '\n'
           << wrap(fmt::format("Next: explain {}, or compare a later result:", found->reason),
                   console_options(env).width, 0)
           << fmt::format("  {} explain {}{} --from {}\n  {} compare {} LATER_RESULT\n",
                          arguments.program, shell_quoted(found->record->id),
                          format_context_options(plan, arguments), shell_quoted(path),
                          arguments.program, shell_quoted(path));
}

Status print_text(const Report& report, const Plan& plan, const Arguments& arguments,
                  const std::string& path, Env& env) {
  ConsoleOptions console = console_options(env);
  VersusBaseline versus;
  if (const auto store = choose_store(report, arguments)) versus = versus_baseline(report, *store);
  console.versus_baseline = std::move(versus.cells);
  console.baseline_notes = std::move(versus.notes);
  console.notes = {arguments.notes,
                   fmt::format("{} report {}", arguments.program, shell_quoted(path))};
  *env.out << console_report(report, console);
  BENCH_RETURN_IF_ERROR(print_profile(report, arguments, path, env));
  print_next_commands(report, plan, arguments, path, env);
  return Done{};
}

Status print_results(const Report& report, const Plan& plan, const Arguments& arguments,
                     const std::string& path, Env& env) {
  if (arguments.output == Output::json) {
    std::optional<AuditedSummary> profile;
    if (!report.profile_passes.empty()) {
      BENCH_ASSIGN_OR_RETURN(profile, read_profile_summary(path));
    }
    print_json(report, profile, env);
    return Done{};
  }
  BENCH_RETURN_IF_ERROR(print_text(report, plan, arguments, path, env));
  if (arguments.verbosity == Verbosity::normal) print_line(*env.err, "results: " + path);
  return Done{};
}

// Returns the command that lists the cases of this run, with the options that select them.
std::string format_list_command(const Arguments& arguments) {
  std::string line = fmt::format("{} list", arguments.program);
  for (const std::string& input : arguments.inputs) line += " " + shell_quoted(input);
  const std::pair<std::string_view, const std::vector<std::string>&> options[] = {
      {"set", arguments.overrides},
      {"filter", arguments.filters},
      {"device", arguments.devices},
      {"plugin", arguments.plugins}};
  for (const auto& [name, values] : options) {
    for (const std::string& value : values)
      line += fmt::format(" --{} {}", name, shell_quoted(value));
  }
  return line;
}

// Which cases of a plan this machine can run.
struct RunnableCases {
  Plan plan;                           // has only the cases that can run
  std::vector<std::string> runs_here;  // one per case of the complete plan
};

RunnableCases find_runnable_cases(const Plan& plan, Env& env) {
  const CaseAvailability availability = find_availability(plan, "run", env);
  RunnableCases result{plan, {}};
  result.plan.cases.clear();
  for (const Case& entry : plan.cases) {
    result.runs_here.push_back(availability.format_runs_here(case_facts(entry)));
    if (result.runs_here.back() == kRunsHere) result.plan.cases.push_back(entry);
  }
  return result;
}

// Formats the beginning of the estimate: how many cases there are, and how many of them can run.
std::string format_case_counts(std::size_t cases, std::size_t runnable) {
  const std::string all = pluralise(cases, "case");
  if (runnable == cases) return all;
  if (runnable == 0) return fmt::format("{}: none can run here", all);
  return fmt::format("{}, {} can run here", all, runnable);
}

// Formats the sentence that estimates how long a run takes, in total and by phase. `cases`: number
// of cases, including those that cannot run.
std::string format_dry_run(std::size_t cases, std::size_t runnable, const RunEstimate& estimate,
                           const std::optional<Nanoseconds>& budget) {
  std::string text = format_case_counts(cases, runnable);
  if (runnable == 0) return text + ", so a run measures nothing.";
  if (budget && *budget < estimate.total()) {
    text += fmt::format(". The budget ends the run after {}; without it, the run takes",
                        format_rough_time(*budget));
  } else {
    text += runnable == cases ? " in" : ". The run takes";
  }
  text += fmt::format(
      " about {}: {} timed, {} warm-up, {} preparation and checks, {} starts of "
      "workers",
      format_rough_time(estimate.total()), format_rough_time(estimate.timed),
      format_rough_time(estimate.warmup), format_rough_time(estimate.preparation),
      format_rough_time(estimate.workers));
  if (estimate.ceilings > Nanoseconds(0))
    text += fmt::format(", {} ceilings", format_rough_time(estimate.ceilings));
  return text + ". A busy machine takes longer.";
}

// Prints one row per case. If cases cannot run, a column states why.
void print_dry_run_table(const Plan& plan, const RunnableCases& runnable, std::size_t width,
                         Env& env) {
  std::vector<TextColumn> columns = {{"case", Align::left, kMinId, 0},
                                     {"processes", Align::right},
                                     {"timed at most", Align::right}};
  const bool has_reasons = runnable.plan.cases.size() < plan.cases.size();
  if (has_reasons) columns.push_back({"runs here"});
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    const Case& entry = plan.cases[i];
    const std::string& runs_here = runnable.runs_here[i];
    const bool runs = runs_here == kRunsHere;
    TextRow row{{{entry.id},
                 {runs ? fmt::format("{}", entry.measure.processes) : "-"},
                 {runs ? format_time(entry.measure.max_time) : "-"}},
                ""};
    if (has_reasons) add_runs_here(runs_here, reason_placement(width), row);
    rows.push_back(std::move(row));
  }
  shorten_ids(rows);
  *env.out << '\n' << render_table(columns, std::move(rows), width, Colour::off);
}

void print_dry_run(const Plan& plan, const Arguments& arguments, Env& env) {
  RunOptions options;
  set_limits(arguments, options);
  const std::size_t width = console_options(env).width;
  const RunnableCases runnable = find_runnable_cases(plan, env);
  RunEstimate estimate = estimate_run(runnable.plan);
  const auto observer = make_progress(Verbosity::quiet, env);
  estimate.ceilings = estimate_calibration(runnable.plan, options, *observer);
  const std::optional<Nanoseconds> budget = options.budget ? options.budget : plan.budget;
  *env.out << wrap(format_dry_run(plan.cases.size(), runnable.plan.cases.size(), estimate, budget),
                   width, 0);
  print_dry_run_table(plan, runnable, width, env);
  const std::string command = shell_command(
      shell_variables(inherited_variables(inherited_environment())) + arguments.program,
      without_flag(arguments.command_line, *find_option("dry-run")));
  *env.out << fmt::format("\nNothing was measured. To measure:\n  {}\n", command);
}

ExitStatus dry_run(Plan plan, const Arguments& arguments, Env& env) {
  RunOptions unused;
  if (const Status status = take_part(arguments, nullptr, plan, unused, env); !status)
    return fail("run", status.error(), ExitStatus::usage, env);
  print_dry_run(plan, arguments, env);
  return ExitStatus::success;
}

// Prints advice if all cases were skipped or unsupported. The exit status may be 0 even then.
void print_advice(const Report& report, const Arguments& arguments, ExitStatus status, Env& env) {
  if (!has_only_skipped_cases(report)) return;
  if (arguments.output == Output::json) {
    print_sentence(env, "bench run: " + nothing_measured_sentence(report).value_or(""));
    return;
  }
  *env.out << fmt::format(
      "\nThe exit status is {}{}.\nTo see which cases can run here, and what this machine has:\n"
      "  {}\n  {} doctor\n",
      static_cast<int>(status),
      status == ExitStatus::success ? ": skipped and unsupported cases are not failures" : "",
      format_list_command(arguments), arguments.program);
}

// Prints why the run stopped early. It is the last line, because it explains the exit status.
void print_stop(const RunSummary& summary, const std::string& path, Env& env) {
  const std::string stop = format_stop(summary);
  if (stop.empty()) return;
  print_sentence(env, fmt::format("bench run: {}; --resume {} continues", stop, path));
}

}  // namespace

ExitStatus run_command(const Arguments& arguments, Env& env) {
  if (const Status status = check_contradictions(arguments); !status)
    return fail("run", status.error(), ExitStatus::usage, env);
  if (const Status status = check_named_store(arguments); !status)
    return fail("run", status.error(), ExitStatus::usage, env);
  if (const Status status = check_trace_folder(arguments.profile); !status)
    return fail("run", status.error(), ExitStatus::usage, env);
  auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  auto switches = resolve_profile_switches(plan->profile, arguments.profile, env);
  if (!switches.ok()) return fail("run", switches.error(), ExitStatus::usage, env);
  if (arguments.profile.under) {
    plan = with_one_process(std::move(*plan));
    *switches = std::nullopt;  // the program of --under is the profiler
  }
  if (arguments.dry_run) return dry_run(*std::move(plan), arguments, env);
  const std::string run_id = make_run_id(env);
  auto destination = open_destination(arguments, *plan, run_id);
  if (!destination.ok()) return fail("run", destination.error(), ExitStatus::usage, env);
  if (*switches) {
    const Status status = check_profile_files(destination->sink.path(), **switches, arguments);
    if (!status) return fail("run", status.error(), ExitStatus::usage, env);
  }

  InterruptWatch watch;
  RunOptions options = make_run_options(arguments, run_id, watch);
  options.resume = destination->earlier ? &*destination->earlier : nullptr;
  if (const Status status = take_part(arguments, options.resume, *plan, options, env); !status)
    return fail("run", status.error(), ExitStatus::usage, env);
  const auto turn = take_turn(arguments, arguments.budget ? arguments.budget : plan->budget,
                              options.interrupted, env);
  if (!turn.ok()) return fail("run", turn.error(), kNoTurn, env);
  options.beside = turn->beside();
  options.joined = [&turn] { return turn->joined(); };
  options.profile = *switches;
  auto progress = make_progress(arguments.verbosity, env);
  const auto summary = execute_plan(*plan, options, destination->sink, *progress, env);
  progress.reset();  // clears the progress line before results are printed
  if (!summary.ok() && destination->sink.records().is_empty())  // no worker started
    return fail("run", summary.error(), ExitStatus::not_measured, env);

  const Report report = destination->sink.records().report();
  const Status printed = print_results(report, *plan, arguments, destination->sink.path(), env);
  if (!printed) return fail("run", printed.error(), ExitStatus::not_measured, env);
  if (!summary.ok()) return fail("run", summary.error(), ExitStatus::not_measured, env);
  if (*switches) {
    const Status written =
        write_profile_files(destination->sink.path(), **switches, arguments, env);
    if (!written) return fail("run", written.error(), ExitStatus::not_measured, env);
  }
  const bool incomplete = summary->any_failed || summary->any_unmeasured;
  const ExitStatus status = incomplete ? ExitStatus::not_measured : ExitStatus::success;
  print_advice(report, arguments, status, env);
  print_stop(*summary, destination->sink.path(), env);
  return status;
}

}  // namespace bench
