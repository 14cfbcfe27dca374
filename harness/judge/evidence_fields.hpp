// SPDX-License-Identifier: Apache-2.0
// The JSON fields of a gate's evidence file and of its report, declared once for writing and
// reading. Only sources of this folder and of harness/report include this header.
#pragma once

#include "base/json_fields.hpp"
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

BENCH_FIELDS(LoadedFile, name, path, (detail, kOptional), digest);
BENCH_FIELDS(GateSide, program, (tool_version, "version"), commit, environment, libraries,
             (loaded, kOptional), (other_files, kOptional), (build, kOptional));

template <class Archive>
void fields(Archive& archive, JsonOf<ExactProperties> auto& exact) {
  BENCH_MEMBERS(archive, exact, implementation);
  std::map<std::string, std::string> facts = facts_as_texts(exact);
  archive.required("facts", facts);
  if constexpr (Archive::kReads) set_facts(std::move(facts), exact);
}

BENCH_FIELDS(Change, field, from, to);
BENCH_FIELDS(CauseFacts, (changes, kOptional), (consequences, kOptional), (missing, kOptional));

void fields(auto& archive, JsonOf<GateSettings> auto& settings) {
  constexpr JsonRange kFraction = within(0, kMaxFraction);
  BENCH_MEMBERS(archive, settings, (delta, kFraction), (detect, kFraction), (memory, kFraction));
}

void fields(auto& archive, JsonOf<GatePolicy> auto& policy) {
  constexpr auto kMaxCount = static_cast<double>(kMaxPairs);
  constexpr JsonRange kCount = within(1, kMaxCount);
  constexpr JsonRange kError = within(kMinError, 1 - kMinError);
  BENCH_MEMBERS(
      archive, policy, (first_duets, "duets", kCount), (last_duets, "extended_duets", kCount),
      (first_confirmations, kCount), (last_confirmations, "confirmations", within(0, kMaxCount)),
      (windows, kCount), (window_processes, kCount), (min_runs, "few_runs", kCount),
      (false_discovery_rate, kError), (confirmation_error, kError), (unconfirmed_error, kError),
      (obvious_effect, kError), (bound_error, kError), (pass_error, kError),
      (detectable_error, kError), (detectable_power, kError), (unknown_spread, kError));
}

// A case that stage 1 did not reach.
struct UnmeasuredCase {
  std::string id, source;
};
BENCH_FIELDS(UnmeasuredCase, id, source);
inline std::vector<UnmeasuredCase> unmeasured_cases(const GateEvidence& evidence) {
  std::vector<UnmeasuredCase> cases;
  for (const CaseEvidence& entry : evidence.cases) {
    if (entry.is_unmeasured) cases.push_back({entry.id(), entry.candidate.source});
  }
  return cases;
}

// The fields of the record `gate`: the measured programs and the rules of the gate.
void gate_fields(auto& archive, JsonOf<GateFacts> auto& facts, JsonOf<GateEvidence> auto& evidence,
                 JsonOf<std::vector<UnmeasuredCase>> auto& unmeasured) {
  BENCH_MEMBERS(archive, facts, run_id, (config_name, "config"), (config_files, "files"),
                (plugins, kOptional), machine_class);
  BENCH_MEMBERS(archive, evidence, mode);
  BENCH_MEMBERS(archive, facts, candidate, base, store, (inherited, kOptional), (beside, kOptional),
                (time, kOptional), proof);
  BENCH_MEMBERS(archive, evidence, configuration_is_stored, (store_problems, kOptional));
  archive.optional("unmeasured", unmeasured);
  BENCH_MEMBERS(archive, evidence, removed, changes, settings, policy);
}

template <class Archive>
void fields(Archive& archive, JsonOf<StoredEvidence> auto& stored) {
  BENCH_MEMBERS(archive, stored, commit, time, (run_id, "of_run"), incomparable,
                (is_malformed, "damaged", kUnlessInitial));
  if (stored.incomparable) return;
  BENCH_MEMBERS(archive, stored, (runs, within(0, kMaxRuns)),
                (log_level, "log_center", within(-kMaxLog, kMaxLog)),
                (sigma, "log_sigma", within(0, kMaxLog)), (q95, "log_q95"), (q99, "log_q99"),
                by_speed);
  auto& measured = stored.measured;
  std::optional<Nanoseconds> median;
  if (const auto time = median_iteration(measured)) median = Nanoseconds(std::llround(*time));
  archive.optional("median_ns", median);
  if constexpr (Archive::kReads) measured.median = median;
  BENCH_MEMBERS(archive, measured, clock_hz, (exact, kInlined));
  BENCH_MEMBERS(archive, stored, difference);
}

template <class Archive>
void fields(Archive& archive, JsonOf<SideFailure> auto& failure) {
  BENCH_MEMBERS(archive, failure, side, outcome, reason);
  if constexpr (Archive::kReads) {
    if (archive.ok() && failure.outcome == Outcome::ok)
      archive.report_field("outcome", "is `ok`, which is not a failure");
  }
}

template <class Archive>
void fields(Archive& archive, JsonOf<Duet> auto& duet) {
  BENCH_MEMBERS(archive, duet, run_id, id, stage, number, (iterations_per_sample, at_least(1)),
                base, candidate, (base_clock_hz, kOptional), (candidate_clock_hz, kOptional));
  bool has_canaries = !duet.base_canary.empty();
  if constexpr (Archive::kReads) has_canaries = archive.has("base_canary_ns");
  if (!has_canaries) return;
  BENCH_MEMBERS(archive, duet, base_canary, candidate_canary);
}

BENCH_FIELDS(Window::Process, median, (iterations_per_sample, at_least(1)));
BENCH_FIELDS(Window, run_id, id, (number, "window"), processes, by_speed);
BENCH_FIELDS(Pending, kind, done, planned);

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
  BENCH_MEMBERS(archive, judgement, verdict);
  put("reason", judgement.reason);
  BENCH_MEMBERS(archive, judgement, course, (cut_short, kUnlessInitial), pending, against, effect,
                low, high, p, adjusted_p, detectable, confirmed_effect, confirmed_p, duets,
                confirmations, base, candidate);
  put("changes", judgement.changes);
}

}  // namespace bench
