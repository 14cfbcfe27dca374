// SPDX-License-Identifier: Apache-2.0
// table: one row per format
#include "harness/judge/measurement.hpp"

#include "base/text.hpp"
#include "harness/judge/change.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/quiet.hpp"
#include "harness/stats/median.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Returns the times per iteration of the samples that count.
std::vector<double> iterations_of(const CountedSamples& process) {
  std::vector<double> iterations;
  iterations.reserve(process.samples.size());
  for (const Nanoseconds sample : process.samples) {
    iterations.push_back(static_cast<double>(sample.count()) /
                         static_cast<double>(process.process->iterations_per_sample));
  }
  return iterations;
}
double median_of(const CountedSamples& process) { return *median(iterations_of(process)); }

std::string text_of(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::map<std::string, std::string> facts_of(const RunRecord& run) {
  std::map<std::string, std::string> facts = environment_facts(run.environment);
  facts.insert({{"config.hash", run.config_hash},
                {"config.files", text_of(run.config_files)},
                {"config.seed", std::to_string(run.seed)},
                {"convention", run.convention},
                {"tool.version", run.tool_version},
                {"tool.commit", run.tool_commit}});
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

MeasuredCase case_of(const CaseRecord& record) {
  MeasuredCase result;
  result.id = record.id;
  result.group = record.direction.empty() ? record.op : record.op + "/" + record.direction;
  result.case_hash = record.case_hash;
  result.outcome = record.outcome;
  result.reason = record.reason;
  result.implementation = record.implementation;
  result.facts = exact_facts(record);
  if (record.quiet) result.join = record.quiet->join;
  return result;
}

std::map<std::string, std::string> machine_of(const EnvironmentRecord& environment) {
  if (environment.machine_class.empty()) return {};
  return {{"machine_class", environment.machine_class}};
}

Result<Measurement> read_result(std::string_view text, const std::string& name) {
  BENCH_ASSIGN_OR_RETURN(const Report report, parse_report(text, name));
  if (report.runs.empty() && report.cases.empty()) {
    return Error{"contains no run", name, "create one with `bench run --out FILE`"};
  }
  return measurement_of(report, name);
}

Result<Measurement> read_baseline(std::string_view text, const std::string& name) {
  const BaselineHistory history = parse_baseline_file(text, name, std::nullopt);
  if (history.records.empty() && !history.problems.empty())
    return Error{history.problems.front(), "", ""};
  return measurement_of({history}, name);
}

bool is_google_benchmark(std::string_view text) {
  return text.starts_with('{') && text.find("\"benchmarks\"") != std::string_view::npos &&
         text.find("\"bench.result/") == std::string_view::npos;
}

bool is_result(std::string_view text) {
  return text.find("\"bench.result/") != std::string_view::npos;
}

struct MeasurementReader {
  std::string_view help;  // the expected format, as an error message names it
  bool (*recognises)(std::string_view text);
  Result<Measurement> (*read)(std::string_view text, const std::string& name);
};
constexpr std::array<MeasurementReader, 3> kReaders = {{
    {"a result file of bench run, or its JSON document", is_result, read_result},
    {"a file of stored baselines", is_baseline_file, read_baseline},
    {"Google Benchmark's JSON", is_google_benchmark, read_google_benchmark},
}};

}  // namespace

std::map<std::string, std::string> environment_facts(const EnvironmentRecord& environment) {
  std::map<std::string, std::string> facts = {{"machine_class", environment.machine_class},
                                              {"cpu", environment.cpu}};
  if (environment.threads) facts["threads"] = std::to_string(*environment.threads);
  facts.merge(library_facts(environment.libraries));
  facts.insert(environment.details.begin(), environment.details.end());
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

Measurement measurement_of(const Report& report, const std::string& name) {
  Measurement result;
  result.name = name;
  result.warnings = report.warnings;
  for (const RunRecord& run : report.runs) {
    if (run.under) {
      result.not_comparable = fmt::format(
          "`{}` was measured under `{}`: profiled times are not comparable", name, *run.under);
    }
  }
  if (!report.runs.empty()) result.facts = facts_of(report.runs.back());
  const RunChains chains(report.runs);
  std::unordered_map<std::string, const EnvironmentRecord*> environments;  // by run
  for (const RunRecord& run : report.runs) environments[run.run_id] = &run.environment;
  std::unordered_map<std::string, std::map<int, const ProcessRecord*>> processes;  // by origin + id
  const auto key = [&](const std::string& run_id, const std::string& id) {
    return chains.origin(run_id) + ' ' + id;
  };
  for (const ProcessRecord& process : report.processes) {
    if (process.samples.empty()) continue;
    processes[key(process.run_id, process.id)][process.process] = &process;
  }
  for (const CaseRecord& record : report.cases) {
    MeasuredCase measured = case_of(record);
    if (const auto run = environments.find(record.run_id); run != environments.end()) {
      measured.device = device_conditions(record, *run->second);
      measured.machine = machine_of(*run->second);
    }
    if (record.outcome == Outcome::ok) {
      std::vector<const ProcessRecord*> own;
      for (const auto& [number, process] : processes[key(record.run_id, record.id)]) {
        own.push_back(process);
      }
      const JudgedSamples judged = judge_samples(own);
      for (const CountedSamples& process : judged.counted) {
        measured.process_medians.push_back(median_of(process));
        if (judged.quiet && !judged.is_disturbed()) {
          measured.process_lower_quartiles.push_back(*quantile(iterations_of(process), 0.25));
        }
      }
      if (judged.quiet) {
        for (const CountedSamples& process : all_samples(own)) {
          measured.all_process_medians.push_back(median_of(process));
        }
      }
      measured.median = median(measured.process_medians);
      if (!measured.median && record.time) {
        measured.median = static_cast<double>(record.time->median.count());
      }
    }
    result.cases.push_back(std::move(measured));
  }
  return result;
}

Result<Measurement> read_measurement(std::string_view text, const std::string& name) {
  std::string formats;
  for (const MeasurementReader& reader : kReaders) {
    if (reader.recognises(text)) return reader.read(text, name);
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", reader.help);
  }
  return Error{"contains nothing to compare", name, fmt::format("expected {}", formats)};
}

}  // namespace bench
