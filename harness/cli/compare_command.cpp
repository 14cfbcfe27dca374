// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/profile_source.hpp"
#include "harness/config/case_id.hpp"
#include "harness/host/placement.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/judge/parameter_comparison.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/result/result_text.hpp"
#include "profiler/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace bench {
namespace {

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Parses the name of a store: `baselines`, or `baselines@release-1.4` for the runs of an anchor.
// Returns nullopt if there is no such folder.
std::optional<StoredRuns> parse_stored_runs(const std::string& path) {
  if (is_folder(path)) return StoredRuns{path, std::nullopt};
  const std::size_t at = path.rfind('@');
  if (at == std::string::npos || !is_folder(path.substr(0, at))) return std::nullopt;
  return StoredRuns{path.substr(0, at), path.substr(at + 1)};
}

// Returns the log or profile of a program if the file is one. A pipe can be read only once, so it
// must be a result.
std::unique_ptr<TextSource> open_activities(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return nullptr;
  auto source = open_text(path);
  if (!source.ok()) return nullptr;
  const auto reader = find_reader(**source);
  const bool has_activities = reader.ok() && (*reader)->compared_by == ComparedBy::executions;
  if (!has_activities) return nullptr;
  (*source)->set_work_factory(operator_work());
  return *std::move(source);
}

// Reads a result file, a report of a benchmark, a log, or a store, whose records the other side
// selects.
Result<Measurement> read_side(const std::string& path, const OtherSide& other) {
  if (const auto stored = parse_stored_runs(path)) return read_stored(*stored, other);
  if (const auto source = open_activities(path)) return measure_activities(*source);
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(path));
  return read_measurement(text, path);
}

OtherSide as_other_side(const Measurement& side) {
  const auto found = side.facts.find("machine_class");
  return {found == side.facts.end() ? std::nullopt : std::optional(found->second), side.run_ids};
}

struct Sides {
  Measurement base, candidate;
};

// Reads both sides. If the base is a store, reads the candidate first, because its machine class
// selects the records of the store.
Result<Sides> read_sides(const std::string& base, const std::string& candidate) {
  if (!parse_stored_runs(base)) {
    BENCH_ASSIGN_OR_RETURN(Measurement left, read_side(base, {}));
    BENCH_ASSIGN_OR_RETURN(Measurement right, read_side(candidate, as_other_side(left)));
    return Sides{std::move(left), std::move(right)};
  }
  BENCH_ASSIGN_OR_RETURN(Measurement right, read_side(candidate, {}));
  BENCH_ASSIGN_OR_RETURN(Measurement left, read_side(base, as_other_side(right)));
  return Sides{std::move(left), std::move(right)};
}

Result<const ComparisonFormat*> choose_comparison_format(const Arguments& arguments) {
  const bool is_page = arguments.out && arguments.out->ends_with(".html");
  const std::string name = arguments.format.value_or(
      arguments.output == Output::json ? "json" : (is_page ? "html" : "text"));
  std::vector<std::string_view> names;
  for (const ComparisonFormat& format : comparison_formats()) {
    names.push_back(format.name);
    if (format.name == name) return &format;
  }
  return Error{fmt::format("unknown format {}", quote(name)), "--format", expectation(name, names)};
}

ExitStatus comparison_exit_status(const Comparison& comparison, const Arguments& arguments) {
  const bool has_regression = comparison.count(CaseVerdict::slower) > 0;
  const bool fails_on_regression = arguments.fail_on != FailOn::nothing;
  if (fails_on_regression && has_regression) return ExitStatus::regression;
  // If `compare` is used as a gate, comparing nothing must not count as success.
  const bool is_required = fails_on_regression || arguments.gate.require_baseline;
  if (is_required && !comparison.has_comparable_case()) return ExitStatus::nothing_comparable;
  return ExitStatus::success;
}

Status write_comparison(const std::string& text, const Arguments& arguments, Env& env) {
  if (!arguments.out) {
    *env.out << text;
    return Done{};
  }
  return write_file(*arguments.out, text, arguments.force ? Existing::replace : Existing::refuse);
}

ConsoleOptions comparison_console(const Arguments& arguments, const Env& env) {
  return arguments.out ? ConsoleOptions{.width = kUnlimitedWidth} : console_options(env);
}

// Returns the options of `bench duet` for the variables that only one side had, or with another
// value.
std::string format_variable_options(const std::vector<Change>& changes) {
  std::string options;
  const auto add = [&](std::string_view option, const std::string& name,
                       const std::optional<std::string>& value) {
    if (value) options += fmt::format(" {} {}", option, shell_quoted(name + "=" + *value));
  };
  for (const Change& change : changes) {
    const std::optional<std::string> name = variable_of_detail(change.field);
    if (!name) continue;
    add("--base-env", *name, change.from);
    add("--cand-env", *name, change.to);
  }
  return options;
}

// Whether the sides state other programs or libraries; variables alone need no second folder.
bool have_other_programs(const std::vector<Change>& changes) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"tool.", "build.", "library."};
  return std::ranges::any_of(changes, [&](const Change& change) {
    return std::ranges::any_of(
        kPrefixes, [&](std::string_view prefix) { return change.field.starts_with(prefix); });
  });
}

// Returns the command that measures the worst case better. Empty if no case needs it.
std::string suggest_measurement(const Comparison& comparison, const Arguments& arguments) {
  const auto worst = std::ranges::find_if(comparison.cases, [](const ComparedCase& entry) {
    return entry.verdict == CaseVerdict::slower || entry.verdict == CaseVerdict::unclear;
  });
  if (worst == comparison.cases.end() || !looks_like_id(worst->id)) return "";
  if (worst->cause) {
    CauseMeasurement measurement;
    measurement.program = arguments.program;
    measurement.id = worst->id;
    const auto commit = std::ranges::find(comparison.changes, "tool.commit", &Change::field);
    if (commit != comparison.changes.end()) measurement.old_commit = commit->from.value_or("");
    if (const auto next = next_command(*worst->cause, measurement))
      return fmt::format("Next: {}:\n  {}\n", next->announcement, next->command);
  }
  const std::string id = shell_quoted(worst->id);
  const std::string variables = format_variable_options(comparison.changes);
  if (have_other_programs(comparison.changes)) {
    return fmt::format(
        "Next: measure both sides of the first case together; FOLDER has the base:\n"
        "  {} duet {} --base FOLDER{}\n",
        arguments.program, id, variables);
  }
  if (variables.empty()) {
    return fmt::format(
        "Next: both sides state the same program; measure the first case more often:\n"
        "  {} run {} --set measure.processes=20\n",
        arguments.program, id);
  }
  return fmt::format("Next: measure both sides of the first case together:\n  {} duet {}{}\n",
                     arguments.program, id, variables);
}

// Returns what to do if no case can be compared. Empty if nothing is known to help.
std::string suggest_comparable(const Sides& sides, const Comparison& comparison,
                               const Arguments& arguments) {
  const ComparisonOptions any{.machines = Machines::any};
  if (!arguments.across_machines &&
      compare(sides.base, sides.candidate, any).has_comparable_case()) {
    return fmt::format(
        "Next: compare the two machines nevertheless:\n"
        "  {} compare {} {} --across-machines\n",
        arguments.program, shell_quoted(arguments.inputs[0]), shell_quoted(arguments.inputs[1]));
  }
  const auto removed =
      std::ranges::find(comparison.cases, CaseVerdict::removed, &ComparedCase::verdict);
  if (removed == comparison.cases.end() || !looks_like_id(removed->id)) return "";
  return fmt::format("Next: measure a case that the base has, then compare again:\n  {} run {}\n",
                     arguments.program, shell_quoted(removed->id));
}

// Prints the next command below the table.
void print_next_command(const Sides& sides, const Comparison& comparison,
                        const Arguments& arguments, Env& env) {
  const std::string text = comparison.has_comparable_case()
                               ? suggest_measurement(comparison, arguments)
                               : suggest_comparable(sides, comparison, arguments);
  if (!text.empty()) *env.out << '\n' << text;
}

Result<ExitStatus> compare_files(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const ComparisonFormat* format, choose_comparison_format(arguments));
  if (arguments.inputs.size() != 2) {
    return Error{"needs two results, BASE and CANDIDATE", "",
                 "add --by PARAMETER to compare the cases of one result with each other"};
  }
  BENCH_ASSIGN_OR_RETURN(const Sides sides, read_sides(arguments.inputs[0], arguments.inputs[1]));
  ComparisonOptions options;
  if (arguments.across_machines) options.machines = Machines::any;
  const Comparison comparison = compare(sides.base, sides.candidate, options);
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& warning : comparison.warnings) {
      print_sentence(env, fmt::format("bench compare: {}", warning));
    }
  }
  const std::string text = format->write(comparison, comparison_console(arguments, env));
  BENCH_RETURN_IF_ERROR(write_comparison(text, arguments, env));
  if (!arguments.out && format->name == "text") {
    print_next_command(sides, comparison, arguments, env);
  }
  return comparison_exit_status(comparison, arguments);
}

// Checks that the operands and the other options can be used with --by.
Status check_by_options(const Arguments& arguments) {
  if (arguments.inputs.size() != 1) {
    return Error{"compares the cases of one result", "--by",
                 "name one result, or omit --by to compare two"};
  }
  if (arguments.fail_on != FailOn::nothing || arguments.gate.require_baseline ||
      arguments.across_machines) {
    return Error{
        "cannot be used with --fail-on, --require-baseline or --across-machines: these are for two "
        "results",
        "--by", "omit them"};
  }
  return Done{};
}

Result<ExitStatus> compare_cases(const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(check_by_options(arguments));
  BENCH_ASSIGN_OR_RETURN(const ComparisonFormat* format, choose_comparison_format(arguments));
  const std::string& path = arguments.inputs.front();
  BENCH_ASSIGN_OR_RETURN(const Report report, read_report(path));
  BENCH_ASSIGN_OR_RETURN(const ParameterComparison comparison,
                         compare_by(report, path, *arguments.by, arguments.against));
  BENCH_RETURN_IF_ERROR(write_comparison(
      format->write_by(comparison, comparison_console(arguments, env)), arguments, env));
  return ExitStatus::success;
}

}  // namespace

ExitStatus compare_command(const Arguments& arguments, Env& env) {
  if (arguments.fail_on == FailOn::pending) {
    return fail("compare",
                Error{"compares two results, in which no change is pending", "--fail-on pending",
                      "--fail-on regression exits with 1 if a case became slower"},
                ExitStatus::usage, env);
  }
  if (arguments.against && !arguments.by) {
    return fail("compare", Error{"needs --by PARAMETER", "--against", "for example --by dtype"},
                ExitStatus::usage, env);
  }
  const Result<ExitStatus> status =
      arguments.by ? compare_cases(arguments, env) : compare_files(arguments, env);
  if (status.ok()) return *status;
  return fail("compare", status.error(), ExitStatus::usage, env);
}

}  // namespace bench
