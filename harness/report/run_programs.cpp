// SPDX-License-Identifier: Apache-2.0
// Formats of a run for other programs: Google Benchmark's JSON (for its tools/compare.py) and
// OpenMetrics.
#include "harness/report/exchange_text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/google_benchmark_text.hpp"
#include "harness/result/measured.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

namespace bench {
namespace {

using google_benchmark::Family;
using open_metrics::escape_label_value;
using open_metrics::format_gauge_header;

void context_fields(JsonWriter& writer, const Report& report) {
  writer.required("caches", std::vector<std::string>());
  writer.required("json_schema_version", 1);
  if (report.runs.empty()) return;
  const RunRecord& run = report.runs.back();
  writer.required("date", run.started);
  writer.required("executable", "bench");
  writer.required("host_name", run.environment.machine_class);
  writer.required("library_version", run.tool_version);
}

// Makes one repetition per process that counts: the median of its samples, at the speed at which
// the case's time is stated. `bench compare` reads such a file in the same way: each repetition as
// a process.
google_benchmark::Repetitions to_repetitions(const MeasuredCase& measured) {
  google_benchmark::Repetitions repetitions;
  for (const ProcessSummary& process : measured.processes) {
    if (process.iterations_per_sample <= 0) continue;
    repetitions.push_back(
        {per_iteration(process.median, process),
         google_benchmark::count_iterations(static_cast<std::size_t>(process.samples),
                                            process.iterations_per_sample)});
  }
  return repetitions;
}

Family make_family(const MeasuredCase& measured) {
  google_benchmark::Repetitions repetitions = to_repetitions(measured);
  if (measured.outcome != Outcome::ok || repetitions.empty()) {
    return {measured.id, {}, measured.reason.value_or(std::string(to_string(measured.outcome)))};
  }
  return {measured.id, std::move(repetitions)};
}

// A metric with one value per case. `column` is the name of the column with the values.
struct Gauge {
  std::string_view name, unit, help, column;
  double scale;  // factor from the column's unit to that of the gauge
};
constexpr std::array<Gauge, 5> kGauges = {
    {{"bench_case_seconds", "seconds", "Median time of one iteration.", "median_ns", 1e-9},
     {"bench_case_interval_ratio", "ratio", "Half of the median's interval, relative to it.",
      "interval", 1},
     {"bench_case_flops_per_second", "", "Achieved floating-point operations per second.",
      "flops_per_s", 1},
     {"bench_case_bytes_per_second", "", "Achieved bytes per second.", "bytes_per_s", 1},
     {"bench_case_efficiency_ratio", "ratio", "Ideal time over median time.", "efficiency", 1}}};

std::string format_gauge(const Gauge& gauge, const Report& report) {
  const CaseColumn& column = case_column(gauge.column);
  std::string text = format_gauge_header(gauge.name, gauge.unit, gauge.help);
  for (const CaseRecord& record : report.cases) {
    const CaseValue cell = column.value(record);
    if (!analysis::is_known(cell)) continue;
    text += fmt::format("{}{{case=\"{}\"}} {:.6g}\n", gauge.name, escape_label_value(record.id),
                        analysis::to_number(cell) * gauge.scale);
  }
  return text;
}

}  // namespace

std::string run_google_benchmark(const RunView& view, const ConsoleOptions& /*console*/) {
  std::vector<Family> families;
  for (const MeasuredCase& measured : measured_cases(view.report)) {
    families.push_back(make_family(measured));
  }
  const auto declare = [&](JsonWriter& writer) {
    writer.object("context", [&](JsonWriter& context) { context_fields(context, view.report); });
    google_benchmark::write_benchmarks(writer, families);
  };
  return json_object(declare, google_benchmark::kStyle) + "\n";
}

std::string run_open_metrics(const RunView& view, const ConsoleOptions& /*console*/) {
  std::string text = format_gauge_header("bench_cases", "", "Cases by outcome.");
  std::array<std::size_t, 7> counts{};
  for (const CaseRecord& record : view.report.cases) {
    ++counts[static_cast<std::size_t>(record.outcome)];
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += fmt::format("bench_cases{{outcome=\"{}\"}} {}\n", enumerator_names<Outcome>()[i],
                        counts[i]);
  }
  for (const Gauge& gauge : kGauges) text += format_gauge(gauge, view.report);
  return text + "# EOF\n";
}

}  // namespace bench
