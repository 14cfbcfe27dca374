// SPDX-License-Identifier: Apache-2.0
// A gate as a JSON document, which docs/gate.schema.json describes. The document contains the
// assessments of all cases and the data behind them: each duet as its log-ratio.
#include "base/json_fields.hpp"
#include "harness/judge/evidence_fields.hpp"
#include "harness/judge/gate_cause.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"

#include <unordered_map>

namespace bench {
namespace {

void coverage_fields(JsonWriter& writer, const std::vector<CaseAssessment>& judgements) {
  const Coverage coverage = count_coverage(judgements);
  BENCH_MEMBERS(writer, coverage, judged, cut_short, in_scope);
  writer.object("verdicts", [&](JsonWriter& verdicts) {
    for (std::size_t i = 0; i < enumerator_names<Verdict>().size(); ++i)
      verdicts.required(enumerator_names<Verdict>()[i], count(judgements, static_cast<Verdict>(i)));
  });
}

// Writes the log-ratios of the first duets and of the confirming ones, in the order of measurement.
void log_ratio_fields(JsonWriter& writer, const CaseEvidence& evidence) {
  std::map<Duet::Stage, std::vector<double>> ratios;
  for (const Duet& duet : evidence.duets) {
    if (const auto ratio = log_ratio(duet)) ratios[duet.stage].push_back(*ratio);
  }
  for (const auto& [stage, list] : ratios) writer.required(to_string(stage), list);
}

}  // namespace

std::string gate_json(const GateFile& gate, const KitPaths& kits) {
  std::unordered_map<std::string_view, const CaseEvidence*> evidence;
  for (const CaseEvidence& entry : gate.evidence.cases) evidence.emplace(entry.id(), &entry);
  const std::vector<UnmeasuredCase> unmeasured = unmeasured_cases(gate.evidence);
  const std::vector<const CaseAssessment*> judgements = reading_order(gate.judgements);
  const auto case_fields = [&](JsonWriter& writer, const CaseAssessment& judgement) {
    writer.required("id", judgement.id);
    assessment_fields(writer, judgement, EmptyFields::left_out);
    if (const auto found = evidence.find(judgement.id); found != evidence.end())
      writer.object("log_ratios",
                    [&](JsonWriter& ratios) { log_ratio_fields(ratios, *found->second); });
    write_cause(writer, find_gate_cause(gate, judgement));
    if (const auto kit = kits.find(judgement.id); kit != kits.end())
      writer.required("kit", kit->second);
    writer.required("reproduction", reproduction(gate, judgement));
  };
  const auto document = [&](JsonWriter& writer) {
    writer.constant("schema", kGateSchema);
    writer.required("conclusion", gate.conclusion.sentence);
    writer.required("exit", static_cast<int>(gate.conclusion.status));
    writer.object("coverage",
                  [&](JsonWriter& coverage) { coverage_fields(coverage, gate.judgements); });
    writer.optional("stopped", gate.evidence.stopped);
    gate_fields(writer, gate.facts, gate.evidence, unmeasured);
    writer.member("cases", [&] {
      writer.add_list(judgements.size(), [&](std::size_t i) {
        writer.add_object([&](JsonWriter& entry) { case_fields(entry, *judgements[i]); });
      });
    });
  };
  return json_object(document, kGateReportStyle) + "\n";
}

}  // namespace bench
