// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/option.hpp"
#include "harness/cli/profile_source.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/memory_flow.hpp"
#include "profiler/export/trace_validator.hpp"
#include "profiler/profile_set.hpp"
#include "profiler/reader.hpp"
#include "profiler/work_sink.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// An open output file: a trace or a diagram.
struct TraceTarget {
  std::unique_ptr<ActivitySink> sink;
  std::function<void(const std::string& name, const std::string& value)> describe;
  std::function<Status()> finish;
  // What finish() added to all times, so that none is negative.
  std::function<Nanoseconds()> shift;
};

Existing overwrite_policy(const Arguments& arguments) {
  return arguments.force ? Existing::replace : Existing::refuse;
}

Result<TraceTarget> open_trace(const Arguments& arguments, TraceForm form) {
  TraceOptions options;
  options.form = form;
  options.title = arguments.inputs.front();
  options.metadata["tool_version"] = tool_version();
  BENCH_ASSIGN_OR_RETURN(auto trace,
                         ChromeTrace::create(*arguments.out, overwrite_policy(arguments), options));
  ChromeTrace* sink = trace.get();
  return TraceTarget{
      std::move(trace),
      [sink](const std::string& name, const std::string& value) { sink->describe(name, value); },
      [sink] { return sink->finish(); }, [sink] { return sink->summary().shift; }};
}

Result<TraceTarget> open_memory_flow(const Arguments& arguments) {
  BENCH_ASSIGN_OR_RETURN(auto flow,
                         MemoryFlow::create(*arguments.out, overwrite_policy(arguments)));
  MemoryFlow* sink = flow.get();
  return TraceTarget{std::move(flow), [](const std::string&, const std::string&) {},
                     [sink] { return sink->finish(); }, [] { return Nanoseconds(0); }};
}

struct TraceFormat {
  std::string_view name;
  std::string_view suffix;
  Result<TraceTarget> (*open)(const Arguments& arguments);
};
constexpr std::array<std::string_view, 3> kTraceFormatNames = {"trace", "html", "memory_flow"};
constexpr std::array<TraceFormat, 4> kTraceFormats = {{
    {kTraceFormatNames[0], ".json",
     [](const Arguments& a) { return open_trace(a, TraceForm::by_suffix); }},
    {kTraceFormatNames[0], ".json.gz",
     [](const Arguments& a) { return open_trace(a, TraceForm::gzip); }},
    {kTraceFormatNames[1], ".html",
     [](const Arguments& a) { return open_trace(a, TraceForm::page); }},
    {kTraceFormatNames[2], ".svg", open_memory_flow},
}};

Result<const TraceFormat*> choose_trace_format(const Arguments& arguments) {
  for (const TraceFormat& format : kTraceFormats) {
    const bool is_chosen = arguments.format ? *arguments.format == format.name
                                            : arguments.out->ends_with(format.suffix);
    if (is_chosen) return &format;
  }
  if (arguments.format) {
    return Error{fmt::format("unknown format {}", quote(*arguments.format)), "",
                 expectation(*arguments.format, kTraceFormatNames)};
  }
  return Error{fmt::format("the suffix of {} is not that of a known format", quote(*arguments.out)),
               "",
               "name it .json, .json.gz, .html or .svg, or add --format trace, html or "
               "memory_flow"};
}

// Reads all files, forwards their activities to `output`, and returns their number.
Result<std::int64_t> read_into(ProfileSet& set, TraceTarget& output, const Arguments& arguments,
                               Env& env) {
  WorkSink with_work(ops::make_work_provider(), *output.sink);
  CoverageSink coverage(&with_work);
  BeginRecordMerger merger(coverage);
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, set.read(merger));
  BENCH_RETURN_IF_ERROR(merger.finish());
  // The iterations of a run are a whole of their own.
  if (report.format != "result") {
    output.describe("share", describe_coverage(coverage.coverage(report.starts)));
  }
  const std::vector<std::string> statements = set.statements();
  if (!statements.empty()) output.describe("clocks", fmt::format("{}", fmt::join(statements, " ")));
  report_losses("trace", report, arguments.verbosity, env);
  report_statements("trace", statements, arguments.verbosity, env);
  for (const auto& [name, value] : report.facts) output.describe(name, value);
  return report.activities;
}

Status write_trace(const Arguments& arguments, Env& env) {
  if (!arguments.out) {
    return Error{"no output file is given", "", "add -o FILE.json, .json.gz, .html or .svg"};
  }
  BENCH_ASSIGN_OR_RETURN(const TraceFormat* format, choose_trace_format(arguments));
  BENCH_ASSIGN_OR_RETURN(ProfileSet set, open_profiles(arguments.inputs, arguments.align));
  BENCH_ASSIGN_OR_RETURN(TraceTarget output, format->open(arguments));
  BENCH_ASSIGN_OR_RETURN(const std::int64_t activities, read_into(set, output, arguments, env));
  // Without finish(), no file appears.
  if (activities == 0) {
    return Error{"contains no activities", fmt::format("{}", fmt::join(arguments.inputs, ", ")),
                 "record them with `bench run --profile` or `bench profile`"};
  }
  BENCH_RETURN_IF_ERROR(output.finish());
  if (arguments.verbosity == Verbosity::normal) {
    const Nanoseconds shift = output.shift();
    if (shift > Nanoseconds(0))
      print_sentence(env, fmt::format("bench trace: added {} ({} ns) to all times, since viewers "
                                      "leave out what is before 0",
                                      format_time(shift), shift.count()));
    print_sentence(env, fmt::format("bench trace: {} in {}", pluralise(activities, "activity"),
                                    *arguments.out));
  }
  return Done{};
}

// Checks all files against the rules that trace viewers rely on, and prints the problems. Returns
// `usage` if a file is invalid.
Result<ExitStatus> check_files(const Arguments& arguments, Env& env) {
  constexpr std::array<std::string_view, 3> kEndings = {"", ", unterminated", ", cut"};
  ExitStatus status = ExitStatus::success;
  for (const std::string& path : arguments.inputs) {
    BENCH_ASSIGN_OR_RETURN(const TraceCheck check, check_trace_file(path));
    *env.out << fmt::format(
        "{}: {}, {}, {}{}: {}\n", printable(path), pluralise(check.total(), "event"),
        pluralise(check.flows, "flow"), pluralise(check.tracks, "track"),
        kEndings[static_cast<std::size_t>(check.ending)],
        check.ok() ? std::string("valid") : pluralise(check.problem_count, "problem"));
    for (const std::string& problem : check.problems)
      *env.out << "  " << printable(problem) << '\n';
    if (!check.ok()) status = ExitStatus::usage;
  }
  return status;
}

}  // namespace

std::span<const std::string_view> trace_format_names() { return kTraceFormatNames; }

ExitStatus trace_command(const Arguments& arguments, Env& env) {
  if (arguments.check) {
    const Result<ExitStatus> status = check_files(arguments, env);
    if (status.ok()) return *status;
    return fail("trace", status.error(), ExitStatus::usage, env);
  }
  const Status status = write_trace(arguments, env);
  if (status.ok()) return ExitStatus::success;
  return fail("trace", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
