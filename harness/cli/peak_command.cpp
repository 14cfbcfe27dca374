// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/failure.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/progress.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/report/peak_text.hpp"
#include "harness/report/table.hpp"
#include "harness/result/report_builder.hpp"
#include "harness/run/file_sink.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace bench {
namespace {

// The store receives ceilings, not samples.
class MemorySink final : public RecordSink {
 public:
  Status append(const Record& record) override {
    records_.add(record);
    return Done{};
  }
  Status append_activity(std::string_view /*nothing is profiled*/) override { return Done{}; }
  Report report() const { return records_.report(); }

 private:
  ReportBuilder records_;
};

// Three processes show whether the placement of memory matters; longer samples than usual average
// over short disturbances.
std::vector<std::string> peak_overrides() {
  return {"measure.processes=3", "measure.max_time=600ms", "measure.precision=1%",
          "measure.min_iterations=5", "warmup.time=20ms"};
}

struct PeakRun {
  std::vector<PeakCase> cases;
  Report report;
  RunSummary summary;
};

// nullopt after printing what is wrong with the arguments.
std::optional<Plan> peak_plan(const Arguments& arguments, const std::vector<PeakCase>& cases,
                              Env& env) {
  Arguments own = arguments;
  if (!arguments.quick) own.overrides = peak_overrides();
  for (const PeakCase& entry : cases) own.inputs.push_back(entry.id);
  return plan_or_diagnose(own, env);
}

std::vector<PeakCase> cases_of_machine() {
  int threads = 0;
  for (const std::vector<int>& core : allowed_cores()) threads += static_cast<int>(core.size());
  return peak_cases(read_cpu(SystemRoot{}), std::max(threads, 1));
}

Result<PeakRun> measure_peaks(const Plan& plan, std::vector<PeakCase> cases,
                              const Arguments& arguments, Env& env) {
  PeakRun run{std::move(cases), {}, {}};
  InterruptWatch watch;
  RunOptions options;
  options.worker_program = own_path();
  options.run_id = make_run_id(env);
  options.tool_version = std::string(tool_version());
  options.tool_commit = std::string(tool_commit().value_or(""));
  options.arguments = arguments.command_line;
  options.interrupted = [&watch] { return watch.seen(); };
  MemorySink sink;
  auto progress = make_progress(arguments.verbosity, env);
  BENCH_ASSIGN_OR_RETURN(run.summary, execute_plan(plan, options, sink, *progress, env));
  progress.reset();
  run.report = sink.report();
  return run;
}

const CaseRecord* find_case(const Report& report, const std::string& id) {
  const auto found = std::ranges::find(report.cases, id, &CaseRecord::id);
  return found == report.cases.end() ? nullptr : &*found;
}

std::vector<PeakRecord> peak_records(const PeakRun& run) {
  std::vector<PeakRecord> records;
  if (run.report.runs.empty()) return records;
  const RunRecord& facts = run.report.runs.front();
  for (const PeakCase& entry : run.cases) {
    const CaseRecord* measured = find_case(run.report, entry.id);
    if (measured == nullptr || measured->outcome != Outcome::ok || !measured->time ||
        !measured->work)
      continue;
    const auto at = [&](Nanoseconds time) { return ceiling_value(entry, *measured->work, time); };
    const auto value = at(measured->time->median);
    // The longest time is the lowest rate, except where the ceiling is a time.
    auto low = at(measured->time->q75), high = at(measured->time->q25);
    if (!value || !low || !high) continue;
    if (std::holds_alternative<Nanoseconds>(*value)) std::swap(low, high);
    PeakRecord& record = records.emplace_back();
    record.run_id = facts.run_id;
    record.time = facts.started;
    record.machine_class = facts.environment.machine_class;
    record.cpu = facts.environment.cpu;
    record.tool_version = facts.tool_version;
    record.commit = facts.tool_commit;
    record.id = entry.id;
    record.implementation = measured->implementation.value_or("");
    record.ceiling = {entry.name, entry.level, entry.threads, *value};
    record.low = *low;
    record.high = *high;
  }
  return records;
}

// The cases that should have a ceiling and have none.
std::vector<std::string> missing_peaks(const PeakRun& run) {
  std::vector<std::string> lines;
  for (const CaseRecord& record : run.report.cases) {
    if (record.outcome == Outcome::ok || record.outcome == Outcome::unsupported) continue;
    lines.push_back(
        fmt::format("{}: {}: {}", record.id, name_of(record.outcome), record.reason.value_or("")));
  }
  return lines;
}

bool has_disturbed(const PeakRun& run) {
  return std::ranges::any_of(
      run.report.cases, [](const CaseRecord& record) { return has_flag(record, Flag::disturbed); });
}

void print_peaks(const PeakRun& run, const std::vector<PeakRecord>& records,
                 const std::string& path, const Arguments& arguments, Env& env) {
  if (arguments.output == Output::json) {
    *env.out << peak_json(records);
    return;
  }
  const ConsoleOptions console = console_options(env);
  *env.out << wrap(peak_sentence(records), console.width, 0) << '\n'
           << peak_table(records, console);
  if (has_disturbed(run)) {
    *env.out << wrap(
        "Other programs or neighbours disturbed some loops, whose ceilings may be too "
        "low. Each further `bench peak` can only raise a ceiling.",
        console.width, 0);
  }
  *env.out << fmt::format("\nStored in {}\nTo see how near each case comes to them:\n  {} run {}\n",
                          printable(path), arguments.program, "configs/quick.yaml");
}

}  // namespace

ExitStatus peak_command(const Arguments& arguments, Env& env) {
  const BaselineStore store(arguments.baseline.value_or(std::string(kDefaultStore)));
  if (const auto foreign = store.foreign_content())
    return fail("peak", *foreign, ExitStatus::usage, env);
  std::vector<PeakCase> cases = cases_of_machine();
  const auto plan = peak_plan(arguments, cases, env);
  if (!plan) return ExitStatus::usage;
  const auto run = measure_peaks(*plan, std::move(cases), arguments, env);
  if (!run.ok()) return fail("peak", run.error(), ExitStatus::not_measured, env);
  const std::vector<PeakRecord> records = peak_records(*run);
  for (const std::string& line : missing_peaks(*run)) print_line(*env.err, "bench peak: " + line);
  const auto path = store.add_peaks(records);
  if (!path.ok()) return fail("peak", path.error(), ExitStatus::not_measured, env);
  print_peaks(*run, records, *path, arguments, env);
  const std::string stop = format_stop(run->summary);
  if (!stop.empty()) print_line(*env.err, "bench peak: " + stop);
  const bool incomplete = run->summary.any_failed || run->summary.any_unmeasured;
  return incomplete ? ExitStatus::not_measured : ExitStatus::success;
}

}  // namespace bench
