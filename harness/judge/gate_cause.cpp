// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/gate_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// Returns why chance did not cause the effect; nullopt if it may have.
std::optional<std::string> exclude_chance(const CaseAssessment& judgement) {
  const bool is_decided =
      judgement.verdict == Verdict::regression || judgement.verdict == Verdict::improved;
  if (!is_decided) return std::nullopt;
  const std::optional<double> p = judgement.adjusted_p ? judgement.adjusted_p : judgement.p;
  return p ? fmt::format("p = {:.2g}", *p) : std::string(to_string(judgement.verdict));
}

const CaseEvidence* find_evidence(const GateFile& gate, const std::string& id) {
  const auto& cases = gate.evidence.cases;
  const auto found =
      std::ranges::find_if(cases, [&](const CaseEvidence& entry) { return entry.id() == id; });
  return found == cases.end() ? nullptr : &*found;
}

// Whether both sides load the same file of the program.
bool have_one_program(const GateSide& base, const GateSide& candidate) {
  return !base.loaded.empty() && !candidate.loaded.empty() &&
         base.loaded.front().is_same_build(candidate.loaded.front());
}

CauseFacts compare_sides(const GateSide& base, const GateSide& candidate) {
  Facts before = side_facts(base), after = side_facts(candidate);
  // Files of different sizes have no digests, so paths take their place.
  if (have_one_program(base, candidate)) {
    before[kProgramDigestFact] = after[kProgramDigestFact] = base.loaded.front().path;
  } else if (!base.loaded.empty() && !candidate.loaded.empty()) {
    before[kProgramDigestFact] = base.loaded.front().path;
    after[kProgramDigestFact] = candidate.loaded.front().path;
  }
  CauseFacts facts = find_cause_facts(before, after);
  // Both sides are measured by one method on one machine.
  std::erase_if(facts.missing, [](const std::string& name) {
    const std::optional<CauseKind> kind = kind_of_fact(name);
    return kind == CauseKind::method || kind == CauseKind::machine;
  });
  return facts;
}

}  // namespace

Facts side_facts(const GateSide& side) {
  Facts facts = library_facts(side.libraries);
  for (const LoadedFile& file : side.loaded) {
    if (file.name == kProgramFile || file.path == side.loaded.front().path) continue;
    // A file without a digest has no counterpart of equal size, so its path identifies it.
    facts["library." + file.name + kDigestSuffix] = file.digest.value_or(file.path);
    if (!file.detail.empty()) facts["library." + file.name + ".detail"] = file.detail;
  }
  for (const auto& [name, value] : side.environment) facts[kVariableDetail + name] = value;
  facts["tool.version"] = side.tool_version;
  facts["tool.commit"] = side.commit;
  facts["build.compiler"] = side.build;
  return facts;
}

std::optional<CauseFinding> find_gate_cause(const GateFile& gate, const CaseAssessment& judgement) {
  const bool has_moved = judgement.verdict == Verdict::regression ||
                         judgement.verdict == Verdict::improved ||
                         judgement.verdict == Verdict::suspect;
  if (!has_moved || !judgement.effect) return std::nullopt;
  MoveContext context;
  context.certainty = exclude_chance(judgement);
  CauseFacts facts;
  if (gate.evidence.mode == GateEvidence::Mode::paired) {
    if (!gate.facts.base || judgement.against != Reference::base) return std::nullopt;
    context.timing = MoveContext::Timing::together;
    facts = compare_sides(*gate.facts.base, gate.facts.candidate);
  } else {
    const CaseEvidence* const entry = find_evidence(gate, judgement.id);
    if (entry == nullptr || !entry->stored || !entry->stored->difference) return std::nullopt;
    facts = *entry->stored->difference;
    context.canary = canary_shift(entry->stored->by_speed, entry->candidate.by_speed);
  }
  facts.consequences.clear();
  std::ranges::copy_if(judgement.changes, std::back_inserter(facts.consequences),
                       [](const Change& change) { return change.field == "implementation"; });
  return judge_cause(facts, std::move(context));
}

}  // namespace bench
