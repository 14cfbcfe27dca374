// SPDX-License-Identifier: Apache-2.0
// The JSON fields of a gate's evidence file and of its report, declared once for writing and
// reading. Only sources of this folder and of harness/report include this header.
#pragma once

#include "harness/judge/evidence_file.hpp"
#include "harness/result/fields.hpp"
#include "harness/stats/signed_rank.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Numbers may be negative: an effect is, if the candidate is faster.
inline constexpr JsonRules kEvidenceRules{.numbers = JsonRules::Numbers::any};
inline constexpr JsonStyle kEvidenceStyle{.indent = 0, .reals = JsonReals::with_fraction};
inline constexpr JsonStyle kGateReportStyle{.indent = 2, .reals = JsonReals::with_fraction};

// Limits for values that are read from a file, since they enter formulas that are valid within
// these limits only. A gate writes values far from the limits.
inline constexpr double kMaxFraction = 10;  // of gate settings: 1000 %, as in configurations
inline constexpr double kMinError = 1e-9;   // of error rates; their maximum is 1 - kMinError
inline constexpr double kMaxLog = 100;      // of logarithms of times and of their differences
inline constexpr double kMaxRuns = 1e9;     // of numbers of runs

void fields(auto& archive, JsonOf<LoadedFile> auto& file) {
  archive.required("name", file.name);
  archive.required("path", file.path);
  archive.optional("detail", file.detail);
  archive.optional("digest", file.digest);
}

void fields(auto& archive, JsonOf<GateSide> auto& side) {
  archive.required("program", side.program);
  archive.required("version", side.tool_version);
  archive.required("commit", side.commit);
  archive.required("environment", side.environment);
  archive.required("libraries", side.libraries);
  archive.optional("loaded", side.loaded);
  archive.optional("other_files", side.other_files);
}

template <class Archive>
void fields(Archive& archive, JsonOf<ExactProperties> auto& exact) {
  archive.required("implementation", exact.implementation);
  std::map<std::string, std::string> facts = facts_as_texts(exact);
  archive.required("facts", facts);
  if constexpr (Archive::kReads) set_facts(std::move(facts), exact);
}

void fields(auto& archive, JsonOf<Change> auto& change) {
  archive.required("field", change.field);
  archive.optional("from", change.from);
  archive.optional("to", change.to);
}

void fields(auto& archive, JsonOf<GateSettings> auto& settings) {
  constexpr JsonRange kFraction = within(0, kMaxFraction);
  archive.required("delta", settings.delta, kFraction);
  archive.required("detect", settings.detect, kFraction);
  archive.required("memory", settings.memory, kFraction);
}

template <class Archive>
void fields(Archive& archive, JsonOf<GatePolicy> auto& policy) {
  constexpr auto kMaxCount = static_cast<double>(kMaxPairs);
  constexpr JsonRange kCount = within(1, kMaxCount);
  constexpr JsonRange kError = within(kMinError, 1 - kMinError);
  archive.required("duets", policy.duets, kCount);
  archive.required("extended_duets", policy.extended_duets, kCount);
  archive.optional("first_confirmations", policy.first_confirmations, kCount);
  archive.required("confirmations", policy.confirmations, within(0, kMaxCount));
  archive.required("windows", policy.windows, kCount);
  archive.required("window_processes", policy.window_processes, kCount);
  archive.required("few_runs", policy.few_runs, kCount);
  // Older files lack some of the following fields.
  archive.optional("false_discovery_rate", policy.false_discovery_rate, kError);
  archive.optional("confirmation_error", policy.confirmation_error, kError);
  archive.optional("unconfirmed_error", policy.unconfirmed_error, kError);
  archive.optional("obvious_effect", policy.obvious_effect, kError);
  archive.optional("bound_error", policy.bound_error, kError);
  archive.optional("pass_error", policy.pass_error, kError);
  archive.optional("detectable_error", policy.detectable_error, kError);
  archive.optional("detectable_power", policy.detectable_power, kError);
  archive.optional("unknown_spread", policy.unknown_spread, kError);
  if constexpr (Archive::kReads) {
    // Gates that wrote older files had one interim analysis of the confirming duets, and used the
    // reported bound for PASS as well.
    if (!archive.has("first_confirmations")) policy.first_confirmations = policy.confirmations;
    if (!archive.has("pass_error")) policy.pass_error = policy.bound_error;
  }
}

// A case that stage 1 did not reach.
struct UnmeasuredCase {
  std::string id, source;
};
void fields(auto& archive, JsonOf<UnmeasuredCase> auto& entry) {
  archive.required("id", entry.id);
  archive.required("source", entry.source);
}
inline std::vector<UnmeasuredCase> unmeasured_cases(const GateEvidence& evidence) {
  std::vector<UnmeasuredCase> cases;
  for (const CaseEvidence& entry : evidence.cases) {
    if (entry.is_unmeasured) cases.push_back({entry.id(), entry.candidate.source});
  }
  return cases;
}

// The fields of the record `gate`: the measured programs and the rules of the gate.
template <class Archive>
void gate_fields(Archive& archive, JsonOf<GateFacts> auto& facts,
                 JsonOf<GateEvidence> auto& evidence,
                 JsonOf<std::vector<UnmeasuredCase>> auto& unmeasured) {
  archive.required("run_id", facts.run_id);
  archive.required("config", facts.config_name);
  archive.required("files", facts.config_files);
  archive.optional("plugins", facts.plugins);
  archive.required("machine_class", facts.machine_class);
  archive.required("mode", evidence.mode);
  archive.required("candidate", facts.candidate);
  archive.optional("base", facts.base);
  archive.optional("store", facts.store);
  archive.optional("inherited", facts.inherited);
  archive.optional("beside", facts.beside);
  archive.optional("configuration_is_stored", evidence.configuration_is_stored);
  archive.optional("store_problems", evidence.store_problems);
  archive.optional("unmeasured", unmeasured);
  archive.required("removed", evidence.removed);
  archive.required("changes", evidence.changes);
  archive.required("settings", evidence.settings);
  archive.required("policy", evidence.policy);
  if constexpr (Archive::kReads) {
    // Older files lack the field; a removed case proves that the configuration is stored.
    if (!archive.has("configuration_is_stored"))
      evidence.configuration_is_stored = !evidence.removed.empty();
  }
}

template <class Archive>
void fields(Archive& archive, JsonOf<StoredEvidence> auto& stored) {
  archive.required("commit", stored.commit);
  archive.required("time", stored.time);
  archive.required("of_run", stored.run_id);
  archive.optional("incomparable", stored.incomparable);
  archive.defaulted("damaged", stored.is_malformed, false);
  if (stored.incomparable) return;
  archive.required("runs", stored.runs, within(0, kMaxRuns));
  archive.required("log_center", stored.log_level, within(-kMaxLog, kMaxLog));
  archive.required("log_sigma", stored.sigma, within(0, kMaxLog));
  archive.optional("log_q95", stored.q95);
  archive.optional("log_q99", stored.q99);
  archive.optional("by_speed", stored.by_speed);
  auto& measured = stored.measured;
  std::optional<Nanoseconds> median;
  if (const auto time = median_iteration(measured)) median = Nanoseconds(std::llround(*time));
  archive.optional("median_ns", median);
  if constexpr (Archive::kReads) measured.median = median;
  archive.optional("clock_hz", measured.clock_hz);
  fields(archive, measured.exact);
}

template <class Archive>
void fields(Archive& archive, JsonOf<SideFailure> auto& failure) {
  archive.required("side", failure.side);
  archive.required("outcome", failure.outcome);
  archive.required("reason", failure.reason);
  if constexpr (Archive::kReads) {
    if (archive.ok() && failure.outcome == Outcome::ok)
      archive.report_field("outcome", "is `ok`, which is not a failure");
  }
}

template <class Archive>
void fields(Archive& archive, JsonOf<Duet> auto& duet) {
  archive.required("run_id", duet.run_id);
  archive.required("id", duet.id);
  archive.required("stage", duet.stage);
  archive.required("number", duet.number);
  archive.required("iterations_per_sample", duet.iterations_per_sample, at_least(1));
  archive.required("base_ns", duet.base);
  archive.required("candidate_ns", duet.candidate);
  archive.optional("base_clock_hz", duet.base_clock_hz);
  archive.optional("candidate_clock_hz", duet.candidate_clock_hz);
  bool has_canaries = !duet.base_canary.empty();
  if constexpr (Archive::kReads) has_canaries = archive.has("base_canary_ns");
  if (!has_canaries) return;
  archive.required("base_canary_ns", duet.base_canary);
  archive.required("candidate_canary_ns", duet.candidate_canary);
}

void fields(auto& archive, JsonOf<Window::Process> auto& process) {
  archive.required("median_ns", process.median);
  archive.required("iterations_per_sample", process.iterations_per_sample, at_least(1));
}
void fields(auto& archive, JsonOf<Window> auto& window) {
  archive.required("run_id", window.run_id);
  archive.required("id", window.id);
  archive.required("window", window.number);
  archive.required("processes", window.processes);
  archive.optional("by_speed", window.by_speed);
}

void fields(auto& archive, JsonOf<Pending> auto& pending) {
  archive.required("kind", pending.kind);
  archive.required("done", pending.done);
  archive.required("planned", pending.planned);
}

// Whether empty texts and lists are written. A report leaves them out.
enum class EmptyFields { kept, left_out };
// The decision about one case, without the case's id.
void assessment_fields(auto& archive, JsonOf<CaseAssessment> auto& judgement, EmptyFields empty) {
  const auto put = [&](const char* name, auto& value) {
    if (empty == EmptyFields::kept) {
      archive.required(name, value);
    } else {
      archive.optional(name, value);
    }
  };
  put("source", judgement.source);
  archive.required("verdict", judgement.verdict);
  put("reason", judgement.reason);
  archive.required("course", judgement.course);
  archive.defaulted("cut_short", judgement.cut_short, false);
  archive.optional("pending", judgement.pending);
  archive.optional("against", judgement.against);
  archive.optional("effect", judgement.effect);
  archive.optional("low", judgement.low);
  archive.optional("high", judgement.high);
  archive.optional("p", judgement.p);
  archive.optional("adjusted_p", judgement.adjusted_p);
  archive.optional("detectable", judgement.detectable);
  archive.optional("confirmed_effect", judgement.confirmed_effect);
  archive.optional("confirmed_p", judgement.confirmed_p);
  archive.required("duets", judgement.duets);
  archive.required("confirmations", judgement.confirmations);
  archive.optional("base_ns", judgement.base);
  archive.optional("candidate_ns", judgement.candidate);
  put("changes", judgement.changes);
}

}  // namespace bench
