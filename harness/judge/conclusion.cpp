// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/conclusion.hpp"

#include "base/quote.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bench {
namespace {

std::size_t count_cut_short(const std::vector<CaseAssessment>& judgements) {
  return static_cast<std::size_t>(std::ranges::count_if(
      judgements, [](const CaseAssessment& entry) { return entry.cut_short; }));
}

// Whether the candidate could not run the case here. Then the case does not show whether the store
// has this configuration.
bool could_not_run(const CaseEvidence& entry) {
  return entry.candidate.outcome == Outcome::skipped ||
         entry.candidate.outcome == Outcome::unsupported;
}

// Whether this is the first run of the configuration: there is no base, and the store has no run of
// it and none of its cases.
bool is_first_run(const GateEvidence& evidence, const std::vector<CaseAssessment>& judgements) {
  if (evidence.mode == GateEvidence::Mode::paired || evidence.configuration_is_stored) return false;
  for (std::size_t i = 0; i < evidence.cases.size() && i < judgements.size(); ++i) {
    const bool is_new = judgements[i].verdict == Verdict::no_baseline;
    if (!is_new && !could_not_run(evidence.cases[i])) return false;
  }
  return count(judgements, Verdict::no_baseline) > 0;
}

// Returns the progress of the pending measurements: " after 21 of 30 duets". Sums over the cases
// that wait for the same kind of measurement as the first waiting case. Empty if no case waits.
std::string format_progress(const std::vector<CaseAssessment>& judgements) {
  const auto first = std::ranges::find_if(
      judgements, [](const CaseAssessment& entry) { return entry.pending.has_value(); });
  if (first == judgements.end()) return "";
  Pending sum{first->pending->kind, 0, 0};
  for (const CaseAssessment& judgement : judgements) {
    if (!judgement.pending || judgement.pending->kind != sum.kind) continue;
    sum.done += judgement.pending->done;
    sum.planned += judgement.pending->planned;
  }
  return " after " + format_pending(sum);
}

// Returns why the base has no time for the first case in which it failed; nullptr if it has all.
const std::string* find_base_failure(const GateEvidence& evidence) {
  for (const CaseEvidence& entry : evidence.cases) {
    if (entry.failure && entry.failure->side == SideFailure::Side::base) {
      return &entry.failure->reason;
    }
  }
  return nullptr;
}

// Returns how far the measurements came: " during the candidate's run", " after 21 of 30 duets".
// If no case was measured, the sides may have needed the whole time to answer, so that no run of
// the candidate began.
std::string format_reached(const GateEvidence& evidence,
                           const std::vector<CaseAssessment>& judgements) {
  const auto unmeasured = std::ranges::count(evidence.cases, true, &CaseEvidence::is_unmeasured);
  if (unmeasured == 0) return format_progress(judgements);
  if (unmeasured < std::ssize(evidence.cases)) return " during the candidate's run";
  return find_base_failure(evidence) != nullptr
             ? " before the candidate measured a case, and the base failed"
             : " before the candidate measured a case";
}

// Returns why the evidence ended early, and how far it came.
std::string format_end(const GateEvidence& evidence,
                       const std::vector<CaseAssessment>& judgements) {
  const std::string where = format_reached(evidence, judgements);
  if (evidence.stopped) {
    return std::string(format_stop_cause(evidence.stopped)) + where;
  }
  const bool is_waiting = std::ranges::any_of(judgements, [](const CaseAssessment& entry) {
    return entry.cut_short && entry.verdict == Verdict::inconclusive;
  });
  return is_waiting ? std::string(format_stop_cause(std::nullopt)) + where : "the base failed";
}

// Returns the answer to the question of a gate: "2 cases became slower". A regression without an
// effect is one of the memory. Requires that at least one case was judged or has an error.
std::string format_answer(const std::vector<CaseAssessment>& judgements, const Coverage& coverage) {
  const auto slower =
      static_cast<std::size_t>(std::ranges::count_if(judgements, [](const CaseAssessment& entry) {
        return entry.verdict == Verdict::regression && entry.effect;
      }));
  const std::size_t larger = count(judgements, Verdict::regression) - slower;
  const std::size_t faster = count(judgements, Verdict::improved);
  const std::size_t failed = count(judgements, Verdict::error);
  std::vector<std::string> parts;
  if (slower > 0) parts.push_back(pluralise(slower, "case") + " became slower");
  if (larger > 0)
    parts.push_back(pluralise(larger, "case needs more memory", "cases need more memory"));
  if (failed > 0) parts.push_back(pluralise(failed, "case has an error", "cases have an error"));
  if (slower == 0 && coverage.judged > larger) {
    parts.push_back(coverage.judged == coverage.in_scope ? "no case became slower"
                                                         : "no judged case became slower");
  }
  if (faster > 0) parts.push_back(fmt::format("{} became faster", pluralise(faster, "case")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string undecided_sentence(const GateEvidence& evidence,
                               const std::vector<CaseAssessment>& judgements) {
  return fmt::format("{}; {} of {} cases not decided", format_end(evidence, judgements),
                     count_cut_short(judgements), judgements.size());
}

std::string cut_short_advice(const GateEvidence& evidence) {
  const std::string* const failure = find_base_failure(evidence);
  if (evidence.stopped == StopCause::budget) {
    const std::string base = failure == nullptr ? "" : "; the base failed with: " + *failure;
    return "use a larger --budget or fewer cases (--filter) to decide the others" + base;
  }
  if (!evidence.stopped && failure != nullptr) {
    return fmt::format("fix the base; it failed with: {}", *failure);
  }
  return "run the gate again to decide the others";
}

// Draws the conclusion of a gate that could compare nothing. Requires that no case was judged and
// none is undecided.
Conclusion conclude_without_reference(const GateEvidence& evidence,
                                      const std::vector<CaseAssessment>& judgements,
                                      const ExitRules& rules) {
  const bool is_first = is_first_run(evidence, judgements);
  Conclusion conclusion{
      ExitStatus::nothing_comparable,
      fmt::format("nothing was judged: {}; {}",
                  is_first ? "the store has no run of this configuration yet, and there is no base"
                           : "no case has a base or a comparable stored run",
                  format_coverage(judgements)),
      "--allow-incomparable accepts a gate that can compare nothing"};
  if (is_first) {
    conclusion.advice =
        fmt::format("`{} --reason TEXT` keeps this run for later gates", rules.save_command);
  }
  if (rules.baseline == ExitRules::Baseline::required) {
    conclusion.advice = "--require-baseline demands something to compare with";
  } else if (is_first || rules.incomparable == ExitRules::Incomparable::allowed) {
    conclusion.status = ExitStatus::success;
  }
  return conclusion;
}

}  // namespace

std::string format_save_command(const std::string& program, const std::string& gate_file,
                                const std::optional<std::string>& store) {
  return fmt::format("{} baseline save {}{}", program, shell_quoted(gate_file),
                     store ? " --baseline " + shell_quoted(*store) : "");
}

Coverage count_coverage(const std::vector<CaseAssessment>& judgements) {
  Coverage coverage;
  coverage.in_scope = judgements.size();
  coverage.cut_short = count_cut_short(judgements);
  for (const Verdict verdict : {Verdict::regression, Verdict::improved, Verdict::pass}) {
    coverage.judged += count(judgements, verdict);
  }
  return coverage;
}

std::string format_counts(const std::vector<CaseAssessment>& judgements) {
  std::string text;
  for (std::size_t i = 0; i < enumerator_names<Verdict>().size(); ++i) {
    const std::size_t cases = count(judgements, static_cast<Verdict>(i));
    if (cases == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cases, enumerator_names<Verdict>()[i]);
  }
  return text.empty() ? "no cases" : text;
}

std::string format_coverage(const std::vector<CaseAssessment>& judgements) {
  const Coverage coverage = count_coverage(judgements);
  return fmt::format("{} of {} cases judged: {}", coverage.judged, coverage.in_scope,
                     format_counts(judgements));
}

Conclusion conclude(const GateEvidence& evidence, const std::vector<CaseAssessment>& judgements,
                    const ExitRules& rules) {
  const std::string counts = format_coverage(judgements);
  const Coverage coverage = count_coverage(judgements);
  if (coverage.cut_short > 0) {
    const bool is_red = count(judgements, Verdict::regression) > 0;
    const std::string undecided =
        fmt::format("{}; {}", undecided_sentence(evidence, judgements), counts);
    if (!is_red) return {ExitStatus::not_measured, undecided, cut_short_advice(evidence)};
    return {ExitStatus::regression,
            fmt::format("{}; {}", format_answer(judgements, coverage), undecided),
            cut_short_advice(evidence)};
  }
  const bool has_regression = count(judgements, Verdict::regression) > 0;
  const bool has_error = count(judgements, Verdict::error) > 0;
  const bool has_answer = has_regression || has_error || coverage.judged > 0;
  const std::string answer =
      has_answer ? fmt::format("{}; {}", format_answer(judgements, coverage), counts) : counts;
  if (has_regression) return {ExitStatus::regression, answer, ""};
  if (has_error) return {ExitStatus::not_measured, answer, "fix the failed cases"};
  const std::size_t undecided =
      count(judgements, Verdict::inconclusive) + count(judgements, Verdict::suspect);
  if (coverage.judged > 0) {
    if (undecided == 0 || rules.undecided == ExitRules::Undecided::tolerated) {
      return {ExitStatus::success, answer, ""};
    }
    return {ExitStatus::undecided, answer, "--strict does not accept undecided cases"};
  }
  if (undecided > 0) {
    return {ExitStatus::undecided,
            fmt::format("nothing was judged: the measurements decide no case; {}", counts),
            "use a quieter machine, longer cases or a larger `detect` to decide more"};
  }
  return conclude_without_reference(evidence, judgements, rules);
}

}  // namespace bench
