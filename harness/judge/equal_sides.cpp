// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/equal_sides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace bench {
namespace {

bool is_same_file(const LoadedFile& a, const LoadedFile& b) {
  return a.name == b.name && a.detail == b.detail && a.is_same_build(b);
}

bool load_the_same(const GateSide& base, const GateSide& candidate) {
  return !base.loaded.empty() && std::ranges::equal(base.loaded, candidate.loaded, is_same_file) &&
         base.other_files == candidate.other_files;
}

// Returns the variables that only one side has, or that have another value there: "NAME=VALUE".
std::vector<std::string> differing_variables(const GateSide& base, const GateSide& candidate) {
  std::vector<std::string> variables;
  const auto add = [&](const GateSide& side, const GateSide& other) {
    for (const auto& [name, value] : side.environment) {
      const auto found = other.environment.find(name);
      if (found != other.environment.end() && found->second == value) continue;
      variables.push_back(fmt::format("`{}={}`", name, value));
    }
  };
  add(base, candidate);
  add(candidate, base);
  return variables;
}

// Whether cases ran on a device whose plugin and libraries the sides do not state, as in older
// files.
bool has_unknown_libraries(const GateFile& gate) {
  const bool states_plugin =
      std::ranges::any_of(gate.facts.candidate.loaded,
                          [](const LoadedFile& file) { return file.name == kGpuPluginFile; });
  return !states_plugin && std::ranges::any_of(gate.evidence.cases, [](const CaseEvidence& entry) {
    return entry.candidate.device.has_value();
  });
}

// Whether the duets compared the properties of a case and found no difference in any case.
bool show_no_effect(const GateFile& gate) {
  const bool is_effect = std::ranges::any_of(gate.judgements, [](const CaseAssessment& judgement) {
    return judgement.verdict == Verdict::regression || judgement.verdict == Verdict::improved ||
           judgement.verdict == Verdict::error || !judgement.changes.empty();
  });
  const bool are_compared = std::ranges::any_of(
      gate.evidence.cases, [](const CaseEvidence& entry) { return entry.base.has_value(); });
  return !is_effect && are_compared;
}

}  // namespace

std::optional<std::string> describe_equal_sides(const GateFile& gate) {
  if (!gate.facts.base || !load_the_same(*gate.facts.base, gate.facts.candidate)) {
    return std::nullopt;
  }
  const GateSide& base = *gate.facts.base;
  const GateSide& candidate = gate.facts.candidate;
  std::string text = "both sides are the same program and libraries";
  const std::vector<std::string> variables = differing_variables(base, candidate);
  if (variables.empty()) {
    // Equal programs in two folders may have different plugins of a GPU there.
    const bool is_one_program = base.loaded.front().path == candidate.loaded.front().path;
    if (has_unknown_libraries(gate) && !is_one_program) return std::nullopt;
    text += fmt::format(": bench {}", candidate.tool_version);
    for (const auto& [name, version] : base.libraries)
      text += fmt::format(", {} {}", name, version);
    return text;
  }
  const bool is_slowed = base.environment.contains(kSlowdownVariable) ||
                         candidate.environment.contains(kSlowdownVariable);
  if (is_slowed || has_unknown_libraries(gate) || !show_no_effect(gate)) return std::nullopt;
  return fmt::format(
      "{}: {} changed nothing that bench can see (same library, instruction set and "
      "implementations)",
      text, fmt::join(variables, " "));
}

Conclusion conclude(const GateFile& gate, const ExitRules& rules) {
  Conclusion conclusion = conclude(gate.evidence, gate.judgements, rules);
  const std::optional<std::string> equal = describe_equal_sides(gate);
  if (!equal) return conclusion;
  conclusion.sentence = fmt::format("{}; {}", *equal, conclusion.sentence);
  if (conclusion.status == ExitStatus::success &&
      rules.equal_sides == ExitRules::EqualSides::refused) {
    conclusion.status = ExitStatus::undecided;
    conclusion.advice =
        "--strict does not accept equal sides; check the paths and variables of both sides";
  }
  return conclusion;
}

}  // namespace bench
