// SPDX-License-Identifier: Apache-2.0
// One file per side in Google Benchmark's schema (its src/json_reporter.cc), for tools/compare.py.
// A duet is a repetition. Both files contain the same cases: those with times on both sides.
#include "base/json_writer.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/google_benchmark_text.hpp"

#include <cmath>
#include <unordered_map>

namespace bench {
namespace {

using google_benchmark::Family;
using google_benchmark::Repetition;
using google_benchmark::Repetitions;

// The repetitions of one case on both sides.
struct Sides {
  Repetitions base, candidate;
};

// Returns the repetition of one side of a duet: the median of the rounds that count, as in the
// effect. Returns nullopt if it has no time.
std::optional<Repetition> to_repetition(const Duet& duet, std::vector<Nanoseconds> Duet::*side) {
  const std::optional<double> middle = duet_median(duet, side);
  if (!middle || *middle <= 0) return std::nullopt;
  return Repetition{*middle, google_benchmark::count_iterations(counted_rounds(duet).size(),
                                                                duet.iterations_per_sample)};
}

Sides sides_from_duets(const CaseEvidence& entry) {
  Sides sides;
  for (const Duet& duet : entry.duets) {
    const auto base = to_repetition(duet, &Duet::base);
    const auto candidate = to_repetition(duet, &Duet::candidate);
    if (!base || !candidate) continue;
    sides.base.push_back(*base);
    sides.candidate.push_back(*candidate);
  }
  return sides;
}

// Uses the stored level and the processes of stage 1.
Sides sides_from_store(const CaseEvidence& entry) {
  Sides sides;
  if (!entry.stored || entry.stored->incomparable || entry.stored->runs == 0) return sides;
  const double stored = std::exp(entry.stored->log_level);
  if (!std::isfinite(stored)) return sides;
  sides.base.push_back({stored, 1});
  for (const double time : iteration_times(entry.candidate.processes, &ProcessSummary::median)) {
    sides.candidate.push_back({time, 1});
  }
  return sides;
}

// Returns the repetitions of both sides, scaled so that their medians are the times of the gate's
// table, whose ratio is the effect.
Sides find_sides(const CaseEvidence& entry, const CaseAssessment& judgement) {
  Sides sides = sides_from_duets(entry);
  if (sides.base.empty()) sides = sides_from_store(entry);
  if (judgement.effect && judgement.base && judgement.candidate) {
    const auto base = static_cast<double>(judgement.base->count());
    google_benchmark::scale_to(base, sides.base);
    google_benchmark::scale_to(base * (1 + *judgement.effect), sides.candidate);
  }
  return sides;
}

void write_context(JsonWriter& writer, const GateFile& gate, const GateSide& side,
                   std::size_t left_out) {
  writer.required("bench_gate", gate.conclusion.sentence);
  writer.required("executable", side.program);
  writer.required("host_name", gate.facts.machine_class);
  writer.required("caches", std::vector<std::string>());
  writer.required("library_version", side.tool_version);
  writer.required("json_schema_version", 1);
  writer.required("bench_left_out", left_out);
}

// Returns the file of one side. Both files omit a case without times on both sides.
std::string format_side_document(const GateFile& gate, const GateSide& side,
                                 Repetitions Sides::*repetitions) {
  std::unordered_map<std::string_view, const CaseEvidence*> evidence;
  for (const CaseEvidence& entry : gate.evidence.cases) evidence.emplace(entry.id(), &entry);
  std::vector<Family> families;
  std::size_t left_out = 0;
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    const auto found = evidence.find(judgement->id);
    Sides sides = found == evidence.end() ? Sides{} : find_sides(*found->second, *judgement);
    if (sides.base.empty() || sides.candidate.empty()) {
      ++left_out;
    } else {
      families.push_back({judgement->id, std::move(sides.*repetitions)});
    }
  }
  const auto write_document = [&](JsonWriter& writer) {
    writer.object("context",
                  [&](JsonWriter& context) { write_context(context, gate, side, left_out); });
    google_benchmark::write_benchmarks(writer, families);
  };
  return json_object(write_document, google_benchmark::kStyle) + "\n";
}

}  // namespace

std::string gate_google_benchmark_base(const GateFile& gate, const KitPaths& /*kits*/) {
  GateSide stored;  // without a base program, the store is the base
  stored.program = gate.facts.store.value_or("");
  return format_side_document(gate, gate.facts.base.value_or(stored), &Sides::base);
}

std::string gate_google_benchmark_candidate(const GateFile& gate, const KitPaths& /*kits*/) {
  return format_side_document(gate, gate.facts.candidate, &Sides::candidate);
}

}  // namespace bench
