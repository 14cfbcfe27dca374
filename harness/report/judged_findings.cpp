// SPDX-License-Identifier: Apache-2.0
// The findings about a gate, a comparison and a store.
#include "harness/report/comparison_text.hpp"
#include "harness/report/findings.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// The words for the cases of a verdict, for one case and for several.
struct VerdictWords {
  std::string_view one, several;
};

// A case with the same texts of a gate and of a comparison.
struct JudgedCase {
  std::string id;
  double effect = 0;  // fraction of the base's time; 0 if unknown
  std::string facts;  // "20.0 % slower (19.5 to 20.5)", or the reason without a full stop
  std::vector<Change> changes;
};

// Returns "2 cases became slower, most gemm/x: 20.0 % slower (19.5 to 20.5); implementation
// jit:avx2 -> jit:sse41." about the case with the largest effect. `cases` is not empty.
PageFinding describe_verdict(const VerdictWords& words, const std::vector<JudgedCase>& cases) {
  const JudgedCase& most = *std::ranges::max_element(
      cases, {}, [](const JudgedCase& entry) { return std::abs(entry.effect); });
  std::string text = cases.size() == 1
                         ? fmt::format("1 case {}: {}", words.one, most.id)
                         : fmt::format("{} cases {}, {} {}", cases.size(), words.several,
                                       most.effect == 0 ? "such as" : "most", most.id);
  if (!most.facts.empty()) text += ": " + most.facts;
  if (!most.changes.empty()) {
    text += "; changed: " + format_changes({most.changes.front()});
    if (most.changes.size() > 1) text += fmt::format(" and {} more", most.changes.size() - 1);
  }
  return {text + ".", most.id};
}

// By verdict. PASS needs no attention.
constexpr std::array<VerdictWords, enumerator_names<Verdict>().size()> kGateWords = {{
    {"became slower", "became slower"},
    {"is an error", "are errors"},
    {"may have become slower, which is not certain",
     "may have become slower, which is not certain"},
    {"is undecided", "are undecided"},
    {"cannot be compared", "cannot be compared"},
    {"has no baseline", "have no baseline"},
    {"became faster", "became faster"},
    {"", ""},
}};

std::string gate_facts(const CaseAssessment& judgement) {
  std::string text = describe_effect(judgement);
  const bool needs_reason = judgement.verdict != Verdict::regression;
  if (needs_reason && !judgement.reason.empty())
    text += (text.empty() ? "" : "; ") + judgement.reason;
  return text;
}

// By verdict, with the plural of the verb. Cases that are `same` need no attention.
struct ComparedVerdict {
  CaseVerdict verdict;
  VerdictWords words;
};
// In the order of importance.
constexpr std::array<ComparedVerdict, 7> kComparedWords = {{
    {CaseVerdict::failed, {"failed in the candidate", "failed in the candidate"}},
    {CaseVerdict::slower, {"is slower", "are slower"}},
    {CaseVerdict::faster, {"is faster", "are faster"}},
    {CaseVerdict::removed, {"is missing in the candidate", "are missing in the candidate"}},
    {CaseVerdict::unclear, {"is unclear", "are unclear"}},
    {CaseVerdict::incomparable, {"cannot be compared", "cannot be compared"}},
    {CaseVerdict::added, {"is new in the candidate", "are new in the candidate"}},
}};

JudgedCase make_judged_case(const ComparedCase& entry) {
  JudgedCase judged{entry.id, entry.ratio ? *entry.ratio - 1 : 0, "", {}};
  const bool is_certain =
      entry.verdict == CaseVerdict::slower || entry.verdict == CaseVerdict::faster;
  if (entry.ratio) {
    judged.facts = format_effect(*entry.ratio, entry.low, entry.high,
                                 is_certain ? EffectDirection::certain : EffectDirection::open);
  }
  if (!entry.reason.empty()) judged.facts += (judged.facts.empty() ? "" : "; ") + entry.reason;
  if (is_certain || entry.verdict == CaseVerdict::failed) judged.changes = entry.changes;
  return judged;
}

PageFinding describe_environment(const std::vector<Change>& changes) {
  std::string text = fmt::format("The sides were measured in different environments: {}",
                                 format_changes({changes.front()}));
  if (changes.size() > 1) text += fmt::format(" and {} more", changes.size() - 1);
  return {text + ".", kChangesSection};
}

}  // namespace

PageFindings gate_findings(const GateFile& gate) {
  PageFindings findings;
  for (std::size_t i = 0; i < kGateWords.size(); ++i) {
    if (kGateWords[i].one.empty() || findings.list.size() == kMaxFindings) continue;
    std::vector<JudgedCase> cases;
    for (const CaseAssessment& judgement : gate.judgements) {
      if (static_cast<std::size_t>(judgement.verdict) != i) continue;
      cases.push_back(
          {judgement.id, judgement.effect.value_or(0), gate_facts(judgement), judgement.changes});
    }
    if (!cases.empty()) findings.list.push_back(describe_verdict(kGateWords[i], cases));
  }
  if (findings.list.empty()) {
    findings.none = gate.judgements.empty() ? "There is no finding, since the gate has no case."
                                            : "No case needs attention: all passed.";
  }
  return findings;
}

PageFindings comparison_findings(const Comparison& comparison) {
  PageFindings findings;
  for (const auto& [verdict, words] : kComparedWords) {
    std::vector<JudgedCase> cases;
    for (const ComparedCase& entry : comparison.cases) {
      if (entry.verdict == verdict) cases.push_back(make_judged_case(entry));
    }
    if (!cases.empty() && findings.list.size() < kMaxFindings)
      findings.list.push_back(describe_verdict(words, cases));
  }
  const bool has_room = findings.list.size() < kMaxFindings;
  if (has_room && !findings.list.empty() && !comparison.changes.empty())
    findings.list.push_back(describe_environment(comparison.changes));
  if (findings.list.empty()) {
    findings.none = comparison.cases.empty()
                        ? "There is no finding, since there are no cases to compare."
                        : "No case needs attention: all are the same.";
  }
  return findings;
}

PageFindings history_findings(std::span<const ShownTrend> shown) {
  PageFindings findings;
  std::size_t short_histories = 0;
  for (const ShownTrend& entry : shown) {
    if (entry.state() == TrendState::too_few) ++short_histories;
    const bool is_event = entry.state() < TrendState::accepted;
    if (!is_event || findings.list.size() == kMaxFindings) continue;
    findings.list.push_back(
        {fmt::format("{} {}.", entry.trend().id, describe_event(entry)), entry.trend().id});
  }
  if (!findings.list.empty()) return findings;
  findings.none = shown.empty() ? "There is no finding, since the store has no runs."
                  : short_histories == shown.size()
                      ? "There is no finding, since no case has enough runs to find a change."
                      : "No case needs attention: none changed.";
  return findings;
}

}  // namespace bench
