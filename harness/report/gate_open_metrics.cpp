// SPDX-License-Identifier: Apache-2.0
// A gate in the text format of OpenMetrics 1.0 (github.com/prometheus/OpenMetrics,
// specification.md). Prometheus, the textfile collector of its node_exporter and GitLab's metrics
// reports read it. Values are rounded because GitLab compares them as text.
#include "harness/report/exchange_text.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>

namespace bench {
namespace {

using open_metrics::escape_label_value;
using open_metrics::format_gauge_header;

std::string format_coverage_gauges(const GateFile& gate) {
  const std::vector<CaseAssessment>& judgements = gate.judgements;
  std::string text =
      format_gauge_header("bench_gate_exit_status", "", "Exit status of the gate; 0 is success.");
  text += fmt::format("bench_gate_exit_status {}\n", static_cast<int>(gate.conclusion.status));
  text += format_gauge_header("bench_gate_cut_short", "",
                              "Cases that are undecided because the evidence ended early.");
  text += fmt::format("bench_gate_cut_short {}\n", count_coverage(judgements).cut_short);
  text += format_gauge_header("bench_gate_judged", "", "Cases with a verdict on their time.");
  text += fmt::format("bench_gate_judged {}\n", count_coverage(judgements).judged);
  text += format_gauge_header("bench_gate_cases", "", "Cases in scope, by verdict.");
  for (std::size_t i = 0; i < enumerator_names<Verdict>().size(); ++i) {
    text += fmt::format("bench_gate_cases{{verdict=\"{}\"}} {}\n", enumerator_names<Verdict>()[i],
                        count(judgements, static_cast<Verdict>(i)));
  }
  return text;
}

std::string format_effect_gauges(const std::vector<const CaseAssessment*>& order) {
  std::string text =
      format_gauge_header("bench_gate_effect_ratio", "ratio",
                          "Additional time of the candidate as a fraction of the base's.");
  for (const CaseAssessment* judgement : order) {
    if (!judgement->effect) continue;
    text += fmt::format("bench_gate_effect_ratio{{case=\"{}\"}} {:.4g}\n",
                        escape_label_value(judgement->id), *judgement->effect);
  }
  return text;
}

std::string format_time_gauges(const std::vector<const CaseAssessment*>& order) {
  struct Side {
    std::string_view name;
    std::optional<Nanoseconds> CaseAssessment::*time;
  };
  constexpr std::array<Side, 2> kSides = {
      {{"base", &CaseAssessment::base}, {"candidate", &CaseAssessment::candidate}}};
  std::string text =
      format_gauge_header("bench_gate_case_seconds", "seconds", "Time per iteration of a case.");
  for (const CaseAssessment* judgement : order) {
    for (const Side& side : kSides) {
      const std::optional<Nanoseconds>& time = judgement->*side.time;
      if (!time) continue;
      text += fmt::format("bench_gate_case_seconds{{case=\"{}\",side=\"{}\"}} {:.6g}\n",
                          escape_label_value(judgement->id), side.name,
                          std::chrono::duration<double>(*time).count());
    }
  }
  return text;
}

}  // namespace

std::string gate_open_metrics(const GateFile& gate, const KitPaths& /*kits*/) {
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  return format_coverage_gauges(gate) + format_effect_gauges(order) + format_time_gauges(order) +
         "# EOF\n";
}

}  // namespace bench
