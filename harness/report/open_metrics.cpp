// SPDX-License-Identifier: Apache-2.0
// Runs and gates in the text format of OpenMetrics 1.0 (github.com/prometheus/OpenMetrics,
// specification.md). Prometheus, the textfile collector of its node_exporter and GitLab's metrics
// reports read it. Values are rounded because GitLab compares them as text.
#include "base/printable.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <utility>

namespace bench {
namespace {

// Escapes line feeds, quotes and backslashes as the format requires. Makes other control characters
// visible.
std::string escape_label_value(std::string_view text) {
  std::string escaped;
  for (;;) {
    const std::size_t end = text.find('\n');
    for (const char c : escape_controls(text.substr(0, end))) {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c;
    }
    if (end == std::string_view::npos) return escaped;
    escaped += "\\n";
    text.remove_prefix(end + 1);
  }
}

class MetricsText {
 public:
  // Declares a gauge, the only kind of metric here. The next samples are its own. `unit` may be
  // empty.
  void gauge(std::string_view name, std::string_view unit, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
  }
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  void sample(Labels labels, std::string_view value) {
    std::string list;
    for (const auto& [label, of] : labels)
      list += fmt::format("{}{}=\"{}\"", list.empty() ? "{" : ",", label, escape_label_value(of));
    text_ += fmt::format("{}{}{} {}\n", name_, list, list.empty() ? "" : "}", value);
  }
  std::string finish() && { return std::move(text_) + "# EOF\n"; }

 private:
  std::string_view name_;
  std::string text_;
};

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

}  // namespace

std::string run_open_metrics(const RunView& view, const ConsoleOptions& /*console*/) {
  const std::vector<CaseRecord>& cases = view.report.cases;
  MetricsText text;
  text.gauge("bench_cases", "", "Cases by outcome.");
  for (std::size_t i = 0; i < enumerator_names<Outcome>().size(); ++i) {
    const auto count = std::ranges::count(cases, static_cast<Outcome>(i), &CaseRecord::outcome);
    text.sample({{"outcome", enumerator_names<Outcome>()[i]}}, std::to_string(count));
  }
  for (const Gauge& gauge : kGauges) {
    const CaseColumn& column = case_column(gauge.column);
    text.gauge(gauge.name, gauge.unit, gauge.help);
    for (const CaseRecord& record : cases) {
      const CaseValue cell = column.value(record);
      if (!analysis::is_known(cell)) continue;
      text.sample({{"case", record.id}},
                  fmt::format("{:.6g}", analysis::to_number(cell) * gauge.scale));
    }
  }
  return std::move(text).finish();
}

std::string gate_open_metrics(const GateFile& gate, const KitPaths& /*kits*/) {
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  const Coverage coverage = count_coverage(gate.judgements);
  MetricsText text;
  text.gauge("bench_gate_exit_status", "", "Exit status of the gate; 0 is success.");
  text.sample({}, std::to_string(static_cast<int>(gate.conclusion.status)));
  text.gauge("bench_gate_cut_short", "",
             "Cases that are undecided because the evidence ended early.");
  text.sample({}, std::to_string(coverage.cut_short));
  text.gauge("bench_gate_judged", "", "Cases with a verdict on their time.");
  text.sample({}, std::to_string(coverage.judged));
  text.gauge("bench_gate_cases", "", "Cases in scope, by verdict.");
  for (std::size_t i = 0; i < enumerator_names<Verdict>().size(); ++i) {
    text.sample({{"verdict", enumerator_names<Verdict>()[i]}},
                std::to_string(count(gate.judgements, static_cast<Verdict>(i))));
  }
  text.gauge("bench_gate_effect_ratio", "ratio",
             "Additional time of the candidate as a fraction of the base's.");
  for (const CaseAssessment* judgement : order) {
    if (!judgement->effect) continue;
    text.sample({{"case", judgement->id}}, fmt::format("{:.4g}", *judgement->effect));
  }
  text.gauge("bench_gate_case_seconds", "seconds", "Time per iteration of a case.");
  for (const CaseAssessment* judgement : order) {
    for (const auto& [side, time] :
         {std::pair{"base", judgement->base}, std::pair{"candidate", judgement->candidate}}) {
      if (!time) continue;
      text.sample({{"case", judgement->id}, {"side", side}},
                  fmt::format("{:.6g}", std::chrono::duration<double>(*time).count()));
    }
  }
  return std::move(text).finish();
}

}  // namespace bench
