// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fleet_report.hpp"

#include "base/lines.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/config/selection.hpp"
#include "harness/result/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kByMachine = "machine";

Status check_fleet_options(const Arguments& arguments) {
  if (*arguments.by != kByMachine)
    return Error{fmt::format("cannot group by {}", quote(*arguments.by)), "--by",
                 "choose --by machine; `bench compare RESULT --by PARAMETER` compares cases"};
  if (arguments.fail_on == FailOn::pending)
    return Error{"applies to the trends of `bench history`", "--fail-on pending",
                 "--fail-on regression exits with 1 if a machine is slow"};
  const std::array<std::pair<std::string_view, bool>, 4> others = {
      {{"--columns", !arguments.analysis.columns.empty()},
       {"--sort", arguments.analysis.order_by.has_value()},
       {"--wide", arguments.report.wide},
       {"--replay", arguments.report.replay}}};
  for (const auto& [option, is_given] : others) {
    if (is_given)
      return Error{"cannot be used with --by machine", std::string(option),
                   fmt::format("omit {}", option)};
  }
  return Done{};
}

std::set<std::string> find_machine_names(const Report& report) {
  std::set<std::string> names;
  for (const RunRecord& run : report.runs) names.insert(machine_name(run.environment).value_or(""));
  return names;
}

// Splits concatenated result files of several machines: the lines from one run record to the next
// belong to the machine of this run.
std::map<std::string, std::string> split_by_machine(std::string_view text) {
  std::map<std::string, std::string> texts;
  std::string* current = nullptr;
  for (const NumberedLine& line : Lines(text)) {
    const auto record = line.text.find("\"run\"") == std::string_view::npos
                            ? Result<Record>(Error{})
                            : record_from_json_line(line.text);
    if (record.ok()) {
      if (const auto* run = std::get_if<RunRecord>(&*record))
        current = &texts[machine_name(run->environment).value_or("")];
    }
    if (current != nullptr) current->append(line.text).append("\n");
  }
  return texts;
}

Status keep_matching(const std::vector<std::string>& patterns, Report& report) {
  if (patterns.empty()) return Done{};
  std::vector<IdPattern> compiled;
  for (const std::string& text : patterns) {
    BENCH_ASSIGN_OR_RETURN(IdPattern pattern, IdPattern::compile(text));
    compiled.push_back(std::move(pattern));
  }
  std::erase_if(report.cases, [&](const CaseRecord& record) {
    return std::ranges::none_of(
        compiled, [&](const IdPattern& pattern) { return pattern.matches(record.id); });
  });
  return Done{};
}

}  // namespace

Result<const FleetFormat*> choose_fleet_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const FleetFormat& format : fleet_formats()) {
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return Error{fmt::format("a report by machine has no format {}", quote(name)), "--by machine",
               expectation(name, names)};
}

Status add_result_file(std::string_view text, const std::string& name,
                       const std::vector<std::string>& patterns, Fleet& fleet) {
  BENCH_ASSIGN_OR_RETURN(Report whole, parse_report(text, name));
  if (find_machine_names(whole).size() <= 1) {
    BENCH_RETURN_IF_ERROR(keep_matching(patterns, whole));
    return fleet.add(whole, name);
  }
  const auto texts = split_by_machine(text);
  if (texts.size() <= 1)
    return Error{"contains runs of several machines as one document, which has each case once",
                 name, "name the result files of the machines"};
  for (const auto& [machine, lines] : texts) {
    BENCH_ASSIGN_OR_RETURN(Report report, parse_report(lines, name));
    BENCH_RETURN_IF_ERROR(keep_matching(patterns, report));
    BENCH_RETURN_IF_ERROR(fleet.add(report, name));
  }
  return Done{};
}

Result<FleetVerdict> read_fleet(const Arguments& arguments, Env& env) {
  BENCH_RETURN_IF_ERROR(check_fleet_options(arguments));
  Fleet fleet;
  for (const std::string& path : arguments.inputs) {
    BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(path));
    BENCH_RETURN_IF_ERROR(add_result_file(text, path, arguments.filters, fleet));
  }
  if (fleet.machines().empty()) {
    if (!arguments.filters.empty())
      return Error{"no case of the results matches", "--filter",
                   "`bench report RESULT --columns case` lists the ids"};
    return Error{"the results contain no cases", arguments.inputs.front(),
                 "name a file that `bench run` wrote for each machine"};
  }
  FleetVerdict verdict = judge_fleet(fleet);
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& warning : verdict.warnings)
      print_sentence(env, "bench report: " + warning);
  }
  return verdict;
}

ExitStatus fleet_status(const FleetVerdict& verdict, const Arguments& arguments) {
  if (arguments.fail_on == FailOn::nothing) return ExitStatus::success;
  const bool has_slow =
      verdict.count(MachineVerdict::slow) > 0 || verdict.count(MachineVerdict::slow_in_cases) > 0;
  if (has_slow) return ExitStatus::regression;
  if (verdict.count(MachineVerdict::failed) > 0) return ExitStatus::not_measured;
  return verdict.is_judged() ? ExitStatus::success : ExitStatus::undecided;
}

}  // namespace bench
