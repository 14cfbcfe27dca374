// SPDX-License-Identifier: Apache-2.0
// docs/gate.schema.json describes the document. It contains all judgements and the data behind
// them: each duet as its log-ratio.
#include "harness/judge/evidence_json.hpp"
#include "harness/report/gate_report.hpp"

#include <unordered_map>

namespace bench {
namespace {

using evidence_json::Json;

Json coverage_json(const std::vector<CaseAssessment>& judgements) {
  const Coverage coverage = coverage_of(judgements);
  Json object = {{"judged", coverage.judged},
                 {"cut_short", coverage.cut_short},
                 {"in_scope", coverage.in_scope}};
  Json& verdicts = object["verdicts"];
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i) {
    verdicts[std::string(kVerdictNames[i])] = count(judgements, static_cast<Verdict>(i));
  }
  return object;
}

// Returns the log-ratios of both stages, in the order of measurement.
Json log_ratios(const CaseEvidence& evidence) {
  Json object = Json::object();
  for (const Duet& duet : evidence.duets) {
    const auto ratio = log_ratio(duet);
    const auto stage = std::string(evidence_json::word(duet.stage, evidence_json::kStages));
    if (ratio) object[stage].push_back(*ratio);
  }
  return object;
}

void leave_out_if_empty(Json& object, const char* name) {
  if (object.at(name).empty() || object.at(name) == "") object.erase(name);
}

}  // namespace

std::string gate_json(const GateFile& gate, const KitPaths& kits) {
  Json document = {{"schema", kGateSchema},
                   {"conclusion", gate.conclusion.sentence},
                   {"exit", static_cast<int>(gate.conclusion.status)},
                   {"coverage", coverage_json(gate.judgements)}};
  if (const auto& stopped = gate.evidence.stopped) {
    document["stopped"] = evidence_json::word(*stopped, evidence_json::kStopCauses);
  }
  evidence_json::add(document, gate.facts, gate.evidence);
  std::unordered_map<std::string_view, const CaseEvidence*> evidence;
  for (const CaseEvidence& entry : gate.evidence.cases) evidence.emplace(entry.id, &entry);
  Json& cases = document["cases"] = Json::array();
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    Json& object = cases.emplace_back(Json{{"id", judgement->id}});
    evidence_json::add(object, *judgement);
    for (const char* name : {"source", "reason", "changes"}) leave_out_if_empty(object, name);
    if (const auto found = evidence.find(judgement->id); found != evidence.end()) {
      object["log_ratios"] = log_ratios(*found->second);
      leave_out_if_empty(object, "log_ratios");
    }
    if (const auto kit = kits.find(judgement->id); kit != kits.end()) object["kit"] = kit->second;
    object["reproduction"] = reproduction(gate, *judgement);
  }
  return evidence_json::text_of(document, 2) + "\n";
}

}  // namespace bench
