// SPDX-License-Identifier: Apache-2.0
#include "harness/result/measured.hpp"

#include "base/text.hpp"
#include "harness/result/typed_details.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace bench {

namespace {

constexpr double kUpperTail = 0.9;

// Names in EnvironmentRecord::details that describe the state of a device.
constexpr std::array<const char*, 4> kDeviceFacts = {"gpu.name", "gpu.driver", "gpu.ecc",
                                                     "gpu.mig"};

// Sizes that files store as texts among the facts.
struct MemoryFact {
  const char* name;
  std::optional<Bytes> ExactProperties::*size;
};
constexpr std::array<MemoryFact, 3> kMemoryFacts = {
    {{"memory.peak_bytes", &ExactProperties::peak},
     {"memory.weights_bytes", &ExactProperties::weights},
     {"memory.workspace_bytes", &ExactProperties::workspace}}};

// Returns whether the detail states the version of a library. Cases state only libraries that the
// worker's handshake does not report; the run record states the others.
bool is_library_version(std::string_view detail) {
  return detail.starts_with("library.") && !detail.ends_with(".path");
}

bool is_exact_property(std::string_view detail) {
  return is_library_version(detail) || detail.starts_with("layout.") ||
         detail == kPrimitivesDetail || detail == kOutputDigestDetail || detail == kSettingsDetail;
}

}  // namespace

ExactProperties exact_properties(const CaseRecord& record) {
  ExactProperties exact{record.implementation.value_or(""), {}};
  std::map<std::string, std::string>& facts = exact.facts;
  for (const auto& [name, value] : record.details) {
    if (is_exact_property(name)) facts[name] = value;
  }
  if (record.memory) {
    exact.peak = record.memory->peak;
    exact.weights = record.memory->weights;
    exact.workspace = record.memory->workspace;
  }
  return exact;
}

std::string format_choices(std::string_view choices) {
  const auto lines = std::ranges::count(choices, '\n');
  if (lines > 1) return fmt::format("{} choices, {}", lines, content_hash(choices));
  std::string text(choices.substr(0, choices.find('\n')));
  if (const auto separator = text.find('\t'); separator != std::string::npos)
    text.replace(separator, 1, ": ");
  return text;
}

std::map<std::string, std::string> facts_as_texts(const ExactProperties& exact) {
  std::map<std::string, std::string> texts = exact.facts;
  for (const MemoryFact& fact : kMemoryFacts) {
    if (const auto& size = exact.*fact.size) texts[fact.name] = std::to_string(size->count);
  }
  return texts;
}

void set_facts(std::map<std::string, std::string> texts, ExactProperties& exact) {
  for (const MemoryFact& fact : kMemoryFacts) {
    if (const auto size = take_integer(texts, fact.name)) exact.*fact.size = Bytes{*size};
  }
  exact.facts = std::move(texts);
}

std::optional<ProcessSummary> summarise(const CountedSamples& process) {
  if (process.samples.empty()) return std::nullopt;
  ProcessSummary summary;
  summary.samples = static_cast<std::int64_t>(process.samples.size());
  summary.iterations_per_sample = process.process->iterations_per_sample;
  summary.median = *median(process.samples);
  summary.q25 = *quantile(process.samples, 0.25);
  summary.p90 = *quantile(process.samples, kUpperTail);
  summary.min = *std::ranges::min_element(process.samples);
  std::vector<double> values;
  for (const Nanoseconds sample : process.samples)
    values.push_back(static_cast<double>(sample.count()));
  if (const auto deviation = standard_deviation(values))
    summary.deviation = Nanoseconds(std::llround(*deviation));
  return summary;
}

double per_iteration(Nanoseconds sample, const ProcessSummary& process) {
  return static_cast<double>(sample.count()) / static_cast<double>(process.iterations_per_sample);
}

ProcessSummary process_from_iteration(FractionalNanoseconds iteration) {
  // Longer iterations need no fraction. A billion iterations of 10 s would not fit into an integer.
  constexpr FractionalNanoseconds kMinWithoutFraction = std::chrono::seconds(1);
  constexpr double kMaxTime = 9e18;
  ProcessSummary process;
  process.samples = 1;
  process.iterations_per_sample = iteration < kMinWithoutFraction ? 1'000'000'000 : 1;
  const double sample = iteration.count() * static_cast<double>(process.iterations_per_sample);
  process.median = Nanoseconds(std::llround(std::clamp(sample, 0.0, kMaxTime)));
  process.q25 = process.p90 = process.min = process.median;
  return process;
}

namespace {

std::vector<ProcessSummary> summarise_processes(const std::vector<CountedSamples>& processes) {
  std::vector<ProcessSummary> summaries;
  for (const CountedSamples& process : processes) {
    if (auto summary = summarise(process)) summaries.push_back(*summary);
  }
  return summaries;
}

void add_times(const CaseRecord& record, const CountedProcesses& counted, MeasuredCase& measured) {
  if (record.time) measured.median = record.time->median;
  const std::vector<const ProcessRecord*> processes = counted.of(record);
  if (record.time) measured.at = record.time->at;
  if (!measured.at) {
    if (const auto level = choose_level(processes)) measured.at = {*level, LevelSource::run};
  }
  auto samples = measured.at ? samples_at(processes, measured.at->canary) : std::nullopt;
  if (!samples) {
    measured.at.reset();
    measured.processes = summarise_processes(all_samples(processes));
    return;
  }
  measured.canary_threads = canary_threads(processes);
  measured.processes = summarise_processes(samples->counted);
  measured.by_speed = std::move(samples->by_speed);
}

}  // namespace

CountedProcesses::CountedProcesses(const Report& report) : chains_(report.runs) {
  for (const ProcessRecord& process : report.processes) {
    const ProcessRecord*& counted =
        processes_[make_key(process.run_id, process.id)][process.process];
    const bool loses_samples =
        counted != nullptr && !counted->samples.empty() && process.samples.empty();
    if (!loses_samples) counted = &process;
  }
}

std::vector<const ProcessRecord*> CountedProcesses::of(const CaseRecord& record) const {
  std::vector<const ProcessRecord*> counted;
  const auto entry = processes_.find(make_key(record.run_id, record.id));
  if (entry == processes_.end()) return counted;
  for (const auto& [number, process] : entry->second) counted.push_back(process);
  return counted;
}

std::string CountedProcesses::make_key(const std::string& run_id, const std::string& id) const {
  return chains_.origin(run_id) + ' ' + id;
}

std::vector<MeasuredCase> measured_cases(const Report& report) {
  std::unordered_map<std::string, const EnvironmentRecord*> environments;  // by run
  for (const RunRecord& run : report.runs) environments[run.run_id] = &run.environment;
  const CountedProcesses counted(report);
  std::vector<MeasuredCase> cases;
  cases.reserve(report.cases.size());
  for (const CaseRecord& record : report.cases) {
    MeasuredCase& measured = cases.emplace_back();
    measured.id = record.id;
    measured.source = record.source;
    measured.case_hash = record.case_hash;
    measured.is_layer = record.network.has_value();
    if (!measured.is_layer) measured.count = record.multiplicity;
    measured.outcome = record.outcome;
    measured.reason = record.reason;
    measured.exact = exact_properties(record);
    for (const ProcessRecord* process : counted.of(record)) {
      if (measured.choices.empty()) measured.choices = process->choices;
    }
    if (!measured.choices.empty())
      measured.exact.facts[kChoiceFact] = format_choices(measured.choices);
    measured.flags = record.flags;
    measured.clock_hz = record.clock_hz;
    measured.sample_method = record.sample_method;
    if (record.outcome == Outcome::ok) add_times(record, counted, measured);
    const auto environment = environments.find(record.run_id);
    const bool is_known = environment != environments.end();
    describe_machine(is_known ? *environment->second : EnvironmentRecord(), measured);
    if (!is_known) measured.device.reset();
  }
  return cases;
}

void describe_machine(const EnvironmentRecord& environment, MeasuredCase& measured) {
  const IdSegments id = split_id(measured.id);
  measured.group = id.direction.empty() ? id.op : id.op + "/" + id.direction;
  if (!environment.machine_class.empty()) {
    measured.machine = {{"machine_class", environment.machine_class}};
  }
  if (id.device.empty() || id.device == "cpu") return;
  measured.device.emplace();
  for (const char* fact : kDeviceFacts) {
    const auto found = environment.details.find(fact);
    if (found != environment.details.end()) measured.device->insert(*found);
  }
}

std::vector<double> iteration_times(const std::vector<ProcessSummary>& processes,
                                    Nanoseconds ProcessSummary::*time) {
  std::vector<double> times;
  times.reserve(processes.size());
  for (const ProcessSummary& process : processes)
    times.push_back(per_iteration(process.*time, process));
  return times;
}

std::optional<double> median_iteration(const MeasuredCase& measured) {
  const bool uses_stated_median =
      measured.processes.empty() && measured.median && measured.median->count() > 0;
  if (uses_stated_median) return measured.median->count();
  const auto middle = median(iteration_times(measured.processes, &ProcessSummary::median));
  return middle && *middle > 0 ? middle : std::nullopt;
}

namespace {

// Returns the facts that identity_difference() compares.
std::map<std::string, std::string> identity_facts(const RunRecord& run) {
  const EnvironmentRecord& environment = run.environment;
  std::map<std::string, std::string> facts = {{"machine_class", environment.machine_class},
                                              {"tool.version", run.tool_version},
                                              {"tool.commit", run.tool_commit},
                                              {"seed", std::to_string(run.seed)}};
  for (const auto& [name, version] : environment.libraries) facts["library." + name] = version;
  for (const auto& [name, value] : environment.details) {
    if (name.starts_with(kVariableDetail)) facts[name] = value;
  }
  for (const char* fact : kDeviceFacts) {
    if (const auto found = environment.details.find(fact); found != environment.details.end())
      facts.insert(*found);
  }
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::string quote_fact(const std::map<std::string, std::string>& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "not set" : fmt::format("`{}`", found->second);
}

}  // namespace

std::optional<std::string> identity_difference(const RunRecord& earlier, const RunRecord& later) {
  const std::map<std::string, std::string> from = identity_facts(earlier),
                                           to = identity_facts(later);
  std::map<std::string, std::string> all = from;
  all.insert(to.begin(), to.end());
  for (const auto& [name, value] : all) {
    const std::string before = quote_fact(from, name), now = quote_fact(to, name);
    if (before != now) return fmt::format("{} was {} and is {}", name, before, now);
  }
  return std::nullopt;
}

RunChains::RunChains(const std::vector<RunRecord>& runs) {
  std::unordered_map<std::string, const RunRecord*> records;
  for (const RunRecord& run : runs) {
    // A run can resume only runs that were read before, so there are no cycles.
    const auto resumed = run.resumes ? records.find(*run.resumes) : records.end();
    const bool continues = resumed != records.end() && !identity_difference(*resumed->second, run);
    origin_.try_emplace(run.run_id, continues ? origin_.at(*run.resumes) : run.run_id);
    records.try_emplace(run.run_id, &run);
  }
}

const std::string& RunChains::origin(const std::string& run_id) const {
  const auto found = origin_.find(run_id);
  return found == origin_.end() ? run_id : found->second;
}

}  // namespace bench
