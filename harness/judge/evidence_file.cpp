// SPDX-License-Identifier: Apache-2.0
// Writes a gate's file; evidence_reader.cpp reads it back.
#include "harness/judge/evidence_file.hpp"

#include "harness/judge/evidence_json.hpp"

namespace bench {
namespace {

using evidence_json::Json;
using evidence_json::json_of;
using evidence_json::put;
using evidence_json::word;

std::string evidence_line(const Json& object) { return evidence_json::text_of(object, -1); }

Json times_of(const std::vector<Nanoseconds>& times) {
  Json list = Json::array();
  for (const Nanoseconds time : times) list.push_back(time.count());
  return list;
}

// Starts a record that belongs to a case.
Json record(const char* kind, const std::string& run_id, const std::string& id) {
  return {{"record", kind}, {"run_id", run_id}, {"id", id}};
}

}  // namespace

std::string gate_line(const GateFacts& facts, const GateEvidence& evidence) {
  Json object = {{"record", "gate"}, {"schema", kGateSchema}};
  evidence_json::add(object, facts, evidence);
  return evidence_line(object);
}

std::string stored_line(const std::string& run_id, const std::string& id,
                        const StoredCase& stored) {
  Json object = record("stored", run_id, id);
  object["commit"] = stored.commit;
  object["time"] = stored.time;
  object["of_run"] = stored.run_id;
  put(object, "incomparable", stored.incomparable);
  if (stored.is_malformed) object["damaged"] = true;
  if (!stored.incomparable) {
    object["runs"] = stored.runs;
    object["log_center"] = stored.center;
    object["log_sigma"] = stored.sigma;
    put(object, "log_q95", stored.q95);
    put(object, "log_q99", stored.q99);
    put(object, "median_ns", stored.median);
    if (stored.clock_hz) object["clock_hz"] = *stored.clock_hz;
    object.update(json_of(stored.side));
  }
  return evidence_line(object);
}

std::string base_side_line(const std::string& run_id, const std::string& id,
                           const PreparedSide& side) {
  Json object = record("base_side", run_id, id);
  object.update(json_of(side));
  return evidence_line(object);
}

std::string failure_line(const std::string& run_id, const std::string& id,
                         const SideFailure& failure) {
  Json object = record("side_failure", run_id, id);
  object["side"] = word(failure.side, evidence_json::kSides);
  object["outcome"] = word(failure.outcome, outcome_names());
  object["reason"] = failure.reason;
  return evidence_line(object);
}

std::string duet_line(const Duet& duet) {
  Json object = record("duet", duet.run_id, duet.id);
  object["stage"] = word(duet.stage, evidence_json::kStages);
  object["number"] = duet.number;
  object["iterations_per_sample"] = duet.iterations_per_sample;
  object["base_ns"] = times_of(duet.base);
  object["candidate_ns"] = times_of(duet.candidate);
  if (!duet.base_clock_hz.empty()) object["base_clock_hz"] = duet.base_clock_hz;
  if (!duet.candidate_clock_hz.empty()) object["candidate_clock_hz"] = duet.candidate_clock_hz;
  if (!duet.base_canary.empty()) {
    object["base_canary_ns"] = times_of(duet.base_canary);
    object["candidate_canary_ns"] = times_of(duet.candidate_canary);
    object["quiet_level_ns"] = duet.quiet_level.count();
  }
  return evidence_line(object);
}

std::string window_line(const Window& window) {
  Json object = record("window", window.run_id, window.id);
  object["window"] = window.number;
  object["processes"] = Json::array();
  for (const Window::Process& process : window.processes) {
    object["processes"].push_back({{"q25_ns", process.q25.count()},
                                   {"iterations_per_sample", process.iterations_per_sample}});
  }
  return evidence_line(object);
}

std::string verdict_line(const std::string& run_id, const CaseAssessment& judgement) {
  Json object = record("verdict", run_id, judgement.id);
  evidence_json::add(object, judgement);
  return evidence_line(object);
}

std::string gate_end_line(const std::string& run_id, const std::optional<StopCause>& stopped) {
  Json object = {{"record", "gate_end"}, {"run_id", run_id}};
  if (stopped) object["stopped"] = word(*stopped, evidence_json::kStopCauses);
  return evidence_line(object);
}

}  // namespace bench
