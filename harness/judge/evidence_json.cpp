// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/evidence_json.hpp"

namespace bench::evidence_json {
namespace {

Json json_of(const GateSide& side) {
  return {{"program", side.program},
          {"version", side.tool_version},
          {"commit", side.commit},
          {"environment", side.environment},
          {"libraries", side.libraries}};
}

}  // namespace

Json json_of(const PreparedSide& side) {
  return {{"implementation", side.implementation}, {"facts", side.facts}};
}

Json json_of(const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    Json& entry = list.emplace_back(Json{{"field", change.field}});
    put(entry, "from", change.from);
    put(entry, "to", change.to);
  }
  return list;
}

void add(Json& object, const GateFacts& facts, const GateEvidence& evidence) {
  object["run_id"] = facts.run_id;
  object["config"] = facts.config_name;
  object["files"] = facts.config_files;
  if (!facts.plugins.empty()) object["plugins"] = facts.plugins;
  object["machine_class"] = facts.machine_class;
  object["mode"] = word(evidence.mode, kModes);
  object["candidate"] = json_of(facts.candidate);
  if (facts.base) object["base"] = json_of(*facts.base);
  put(object, "store", facts.store);
  if (evidence.moved) {
    object["moved"] = evidence.moved->text;
    put(object, "moved_log", std::optional(evidence.moved->log));
  }
  object["configuration_is_stored"] = evidence.configuration_is_stored;
  if (!evidence.store_problems.empty()) object["store_problems"] = evidence.store_problems;
  for (const CaseEvidence& entry : evidence.cases) {
    if (!entry.is_unmeasured) continue;
    object["unmeasured"].push_back({{"id", entry.id}, {"source", entry.source}});
  }
  object["removed"] = evidence.removed;
  object["changes"] = json_of(evidence.changes);
  for (const auto& row : kSettings) object["settings"][row.name] = evidence.settings.*row.member;
  for (const auto& row : kPolicyCounts) object["policy"][row.name] = evidence.policy.*row.member;
  for (const auto& row : kPolicyShares) object["policy"][row.name] = evidence.policy.*row.member;
}

void add(Json& object, const CaseAssessment& judgement) {
  object["source"] = judgement.source;
  object["verdict"] = name_of(judgement.verdict);
  object["reason"] = judgement.reason;
  object["course"] = word(judgement.course, kCourses);
  if (judgement.cut_short) object["cut_short"] = true;
  if (const auto& pending = judgement.pending) {
    object["pending"] = {{"kind", word(pending->kind, kPendingKinds)},
                         {"done", pending->done},
                         {"planned", pending->planned}};
  }
  if (judgement.against) object["against"] = word(*judgement.against, kReferences);
  for (const auto& row : kShares) put(object, row.name, judgement.*row.member);
  object["duets"] = judgement.duets;
  object["confirmations"] = judgement.confirmations;
  for (const auto& row : kTimes) put(object, row.name, judgement.*row.member);
  object["changes"] = json_of(judgement.changes);
}

}  // namespace bench::evidence_json
