// SPDX-License-Identifier: Apache-2.0
// One line per case of a gate, for spreadsheets and statistics programs. The columns that identify
// a case are those of a run's CSV.
#include "harness/report/case_table.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/report_builder.hpp"
#include "profiler/analysis/cell.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {
namespace {

struct GateCsvColumn {
  std::string_view name;
  CaseValue (*value)(const GateFile& gate, const CaseAssessment& judgement);
};

CaseValue to_gate_value(std::string_view text) {
  return text.empty() ? CaseValue{} : CaseValue{std::string(text)};
}

CaseValue gate_number(const std::optional<double>& number) {
  return number ? CaseValue{*number} : CaseValue{};
}

CaseValue gate_time(const std::optional<Nanoseconds>& time) {
  return time ? CaseValue{std::int64_t{time->count()}} : CaseValue{};
}

constexpr std::array<GateCsvColumn, 16> kGateCsvColumns = {{
    {"verdict",
     [](const GateFile&, const CaseAssessment& j) { return to_gate_value(to_string(j.verdict)); }},
    {"effect", [](const GateFile&, const CaseAssessment& j) { return gate_number(j.effect); }},
    {"low", [](const GateFile&, const CaseAssessment& j) { return gate_number(j.low); }},
    {"high", [](const GateFile&, const CaseAssessment& j) { return gate_number(j.high); }},
    {"p", [](const GateFile&, const CaseAssessment& j) { return gate_number(j.p); }},
    {"adjusted_p",
     [](const GateFile&, const CaseAssessment& j) { return gate_number(j.adjusted_p); }},
    {"detectable",
     [](const GateFile&, const CaseAssessment& j) { return gate_number(j.detectable); }},
    {"against",
     [](const GateFile&, const CaseAssessment& j) { return to_gate_value(reference_name(j)); }},
    {"reference_ns", [](const GateFile&, const CaseAssessment& j) { return gate_time(j.base); }},
    {"candidate_ns",
     [](const GateFile&, const CaseAssessment& j) { return gate_time(j.candidate); }},
    {"duets",
     [](const GateFile&, const CaseAssessment& j) { return CaseValue{std::int64_t{j.duets}}; }},
    {"confirmations",
     [](const GateFile&, const CaseAssessment& j) {
       return CaseValue{std::int64_t{j.confirmations}};
     }},
    {"changes",
     [](const GateFile&, const CaseAssessment& j) {
       return j.changes.empty() ? CaseValue{} : to_gate_value(format_changes(j.changes));
     }},
    {"reason", [](const GateFile&, const CaseAssessment& j) { return to_gate_value(j.reason); }},
    {"source", [](const GateFile&, const CaseAssessment& j) { return to_gate_value(j.source); }},
    {"reproduction", [](const GateFile& gate,
                        const CaseAssessment& j) { return to_gate_value(reproduction(gate, j)); }},
}};

}  // namespace

std::string gate_csv(const GateFile& gate, const KitPaths& /*kits*/) {
  CaseColumns identity;
  std::string text;
  for (const CaseColumn& column : case_columns()) {
    if (column.role != CaseColumn::Role::identity) continue;
    identity.push_back(&column);
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
  }
  for (const GateCsvColumn& column : kGateCsvColumns) text += fmt::format(",{}", column.name);
  text += '\n';
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    const CaseRecord record = make_record(judgement->id);
    for (const CaseColumn* column : identity) {
      if (column != identity.front()) text += ',';
      analysis::append_csv(column->value(record), text);
    }
    for (const GateCsvColumn& column : kGateCsvColumns) {
      text += ',';
      analysis::append_csv(column.value(gate, *judgement), text);
    }
    text += '\n';
  }
  return text;
}

}  // namespace bench
