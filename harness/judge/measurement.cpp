// SPDX-License-Identifier: Apache-2.0
// table: one row per format
#include "harness/judge/measurement.hpp"

#include "base/text.hpp"
#include "harness/judge/change.hpp"
#include "profiler/readers/benchmark_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

std::string join_with_spaces(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

Result<Measurement> read_result(std::string_view text, const std::string& name) {
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(text, name));
  if (report.runs.empty() && report.cases.empty()) {
    return Error{"contains no run", name, "create one with `bench run --out FILE`"};
  }
  return make_measurement(report, name);
}

Result<Measurement> read_baseline(std::string_view text, const std::string& name) {
  const BaselineHistory history = parse_baseline_file(text, name, std::nullopt);
  if (history.records.empty() && !history.problems.empty())
    return Error{history.problems.front(), "", ""};
  return make_measurement({history}, name);
}

bool is_result(std::string_view text) {
  return text.find("\"bench.result/") != std::string_view::npos;
}

struct MeasurementReader {
  std::string_view help;  // name of the format in an error message
  bool (*recognises)(std::string_view text);
  Result<Measurement> (*read)(std::string_view text, const std::string& name);
};
constexpr std::array<MeasurementReader, 2> kReaders = {{
    {"a result of `bench run`, also its JSON document", is_result, read_result},
    {"a file of stored baselines", is_baseline_file, read_baseline},
}};

}  // namespace

std::map<std::string, std::string> run_facts(const RunRecord& run) {
  std::map<std::string, std::string> facts = environment_facts(run.environment);
  facts.insert({{"config.hash", run.config_hash},
                {"config.files", join_with_spaces(run.config_files)},
                {"config.seed", std::to_string(run.seed)},
                {"convention", run.convention},
                {"tool.version", run.tool_version},
                {"tool.commit", run.tool_commit}});
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

bool is_of_build(const Change& change) { return change.field.starts_with("build."); }

std::map<std::string, std::string> environment_facts(const EnvironmentRecord& environment) {
  std::map<std::string, std::string> facts = {{"machine_class", environment.machine_class},
                                              {"cpu", environment.cpu}};
  if (environment.threads) facts["threads"] = std::to_string(*environment.threads);
  facts.merge(library_facts(environment.libraries));
  facts.insert(environment.details.begin(), environment.details.end());
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::vector<Change> class_changes(const EnvironmentRecord& from, const EnvironmentRecord& to) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"cpu", "cache.", "build."};
  std::vector<Change> changes = changes_between(environment_facts(from), environment_facts(to));
  std::erase_if(changes, [&](const Change& change) {
    return !change.from || !change.to ||
           std::ranges::none_of(kPrefixes, [&](std::string_view prefix) {
             return change.field.starts_with(prefix);
           });
  });
  return changes;
}

std::string describe_class_changes(const EnvironmentRecord& from, const EnvironmentRecord& to) {
  const std::vector<Change> changes = class_changes(from, to);
  const std::string text =
      changes.empty() ? "compiler or flags, which a run of an earlier version does not state"
                      : format_changes(changes);
  if (!std::ranges::all_of(changes, is_of_build)) return text;
  return fmt::format("{}; `bench baseline adopt {}` adopts its runs", text, from.machine_class);
}

Measurement make_measurement(const Report& report, const std::string& name) {
  Measurement result;
  result.name = name;
  result.warnings = report.warnings;
  for (const RunRecord& run : report.runs) {
    if (run.under) {
      result.incomparable_reason = fmt::format(
          "`{}` was measured under `{}`: profiled times are not comparable", name, *run.under);
    }
  }
  if (!report.runs.empty()) result.facts = run_facts(report.runs.back());
  const RunChains chains(report.runs);
  for (const RunRecord& run : report.runs) result.run_ids.insert(chains.origin(run.run_id));
  result.cases = measured_cases(report);
  return result;
}

Result<Measurement> read_measurement(std::string_view text, const std::string& name) {
  std::string formats;
  for (const MeasurementReader& reader : kReaders) {
    if (reader.recognises(text)) return reader.read(text, name);
    formats += fmt::format("\n  {}", reader.help);
  }
  if (const BenchmarkFormat* const format = find_benchmark_format(text))
    return measure_benchmarks(*format, text, name);
  for (const BenchmarkFormat& format : benchmark_formats())
    formats += fmt::format("\n  {}", format.program);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{"is empty", name, "name a file that `bench run` wrote"};
  return Error{"the file contains nothing to compare", name,
               fmt::format("expected one of these:{}\n  a profile, trace or log of a program that "
                           "`bench analyze` reads",
                           formats)};
}

}  // namespace bench
