// SPDX-License-Identifier: Apache-2.0
#include "harness/report/findings.hpp"

#include "base/text.hpp"
#include "harness/report/case_sum.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/run_answer.hpp"
#include "harness/result/advice.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// A gain is a finding if the case would need at most this fraction of its time, and if the gain is
// at least this fraction of the time of all cases. Both hold at the lower end of the interval.
constexpr double kMaxNeeded = 0.9, kMinGain = 0.03;
// Few cases that take most of the time are a finding: at most this fraction of all cases takes at
// least this fraction of the time, also at the unfavourable ends of all intervals.
constexpr double kMaxFew = 0.25, kMinMost = 0.5;
constexpr std::size_t kMaxGains = 2;

double count_nanoseconds(Nanoseconds time) { return static_cast<double>(time.count()); }

double low_end(const SummedCase& entry) {
  return count_nanoseconds(saturated_product(*entry.record->time->low, entry.multiplicity));
}

double high_end(const SummedCase& entry) {
  return count_nanoseconds(saturated_product(*entry.record->time->high, entry.multiplicity));
}

std::optional<PageFinding> find_failures(const Report& report) {
  const CaseRecord* first = nullptr;
  std::size_t failures = 0;
  for (const CaseRecord& record : report.cases) {
    if (!is_failure(record.outcome)) continue;
    if (failures++ == 0) first = &record;
  }
  if (first == nullptr) return std::nullopt;
  const std::string reason = first->reason.value_or("");
  return PageFinding{
      fmt::format("{} of {} failed{}: {} has the outcome {}{}{}.", failures,
                  pluralise(report.cases.size(), "case"), failures == 1 ? "" : "; the first one",
                  first->id, to_string(first->outcome), reason.empty() ? "" : ": ", reason),
      first->id};
}

std::string_view describe_ceiling(CeilingSource source) {
  constexpr std::array<std::string_view, 3> kTexts = {
      "", " (found by a short calibration, so it may be higher)", " (by the datasheet)"};
  return kTexts[static_cast<std::size_t>(source)];
}

bool is_certain_gain(const SummedCase& entry, Nanoseconds whole) {
  if (!entry.ideal || !has_certain_interval(*entry.record)) return false;
  const double low = low_end(entry);
  return count_nanoseconds(*entry.ideal) <= kMaxNeeded * low &&
         low - count_nanoseconds(*entry.ideal) >= kMinGain * count_nanoseconds(whole);
}

PageFinding describe_gain(const SummedCase& entry, Nanoseconds whole, std::size_t cases) {
  const Roofline& roofline = *entry.record->roofline;
  std::string text =
      fmt::format("{} is at {:.0f} % of its ceiling{}, bound by {}: {} to gain", entry.record->id,
                  100 * roofline.efficiency, describe_ceiling(roofline.source),
                  to_string(roofline.bound), format_time(entry.recoverable()));
  if (entry.multiplicity > 1) text += " " + format_multiplicity(entry);
  if (cases > 1) text += fmt::format(", of {} that all cases take together", format_time(whole));
  return {text + ".", entry.record->id};
}

std::vector<PageFinding> find_gains(const CaseSum& sum) {
  const Nanoseconds whole = sum.median();
  std::vector<PageFinding> findings;
  for (const SummedCase& entry : sort_by_gain(sum)) {
    if (findings.size() == kMaxGains) break;
    if (is_certain_gain(entry, whole))
      findings.push_back(describe_gain(entry, whole, sum.cases.size()));
  }
  return findings;
}

// `few`: the number of cases that take `median` of the time of all.
PageFinding describe_few_long_cases(std::size_t few, const std::vector<SummedCase>& longest_first,
                                    Nanoseconds median, Nanoseconds whole) {
  const std::string& longest = longest_first.front().record->id;
  const auto percent = [&](Nanoseconds part) {
    return 100 * count_nanoseconds(part) / count_nanoseconds(whole);
  };
  if (few == 1) {
    return {fmt::format("{} takes {:.0f} % of the time of all {}.", longest, percent(median),
                        pluralise(longest_first.size(), "case")),
            longest};
  }
  return {fmt::format("{} of {} cases take {:.0f} % of the time; {} takes {:.0f} %.", few,
                      longest_first.size(), percent(median), longest,
                      percent(longest_first.front().median)),
          longest};
}

std::optional<PageFinding> find_few_long_cases(const CaseSum& sum) {
  const auto limit = static_cast<std::size_t>(kMaxFew * static_cast<double>(sum.cases.size()));
  const bool are_certain = std::ranges::all_of(
      sum.cases, [](const SummedCase& entry) { return has_certain_interval(*entry.record); });
  if (limit == 0 || !are_certain) return std::nullopt;
  std::vector<SummedCase> cases = sum.cases;
  std::ranges::stable_sort(cases, std::greater<>(), &SummedCase::median);
  double others = 0, few = 0;
  for (const SummedCase& entry : cases) others += high_end(entry);
  Nanoseconds median{0};
  for (std::size_t i = 0; i < limit; ++i) {
    others -= high_end(cases[i]);
    few += low_end(cases[i]);
    median = saturated_sum(median, cases[i].median);
    if (few < kMinMost * (few + others)) continue;
    return describe_few_long_cases(i + 1, cases, median, sum.median());
  }
  return std::nullopt;
}

// Returns the advice of the most important rule that applies to a case which takes enough of the
// time, for the longest of these cases.
std::optional<PageFinding> find_advice(const CaseSum& sum) {
  const double enough = kMinGain * count_nanoseconds(sum.median());
  std::map<std::string, std::pair<const SummedCase*, std::string>> rules;  // text by rule
  for (const SummedCase& entry : sum.cases) {
    if (!has_certain_interval(*entry.record) || count_nanoseconds(entry.median) < enough) continue;
    for (Advice& advice : advice_in(*entry.record)) {
      auto& [longest, text] = rules[advice.id];
      if (longest != nullptr && longest->median >= entry.median) continue;
      longest = &entry;
      text = std::move(advice.text);
    }
  }
  for (const std::string_view id : advice_ids()) {
    const auto rule = rules.find(std::string(id));
    if (rule == rules.end()) continue;
    const auto& [longest, text] = rule->second;
    return PageFinding{fmt::format("{}: {}", longest->record->id, text), longest->record->id};
  }
  return std::nullopt;
}

std::optional<PageFinding> find_noise(const Report& report) {
  const CaseRecord* widest = nullptr;
  std::size_t noisy = 0;
  for (const CaseRecord& record : report.cases) {
    if (std::ranges::find(record.flags, Flag::noisy) == record.flags.end() || !record.time)
      continue;
    ++noisy;
    const auto width = interval_half_width(*record.time);
    if (width && (widest == nullptr || *width > *interval_half_width(*widest->time)))
      widest = &record;
  }
  if (widest == nullptr) return std::nullopt;
  return PageFinding{
      fmt::format("{} of {} {} noisy: the interval of {} is +-{:.1f} %; more "
                  "processes make it narrower (`--set measure.processes=N`).",
                  noisy, pluralise(report.cases.size(), "case"), noisy == 1 ? "is" : "are",
                  widest->id, 100 * *interval_half_width(*widest->time)),
      widest->id};
}

// Says why cases have no interval, after the words that they have none. Empty if the processes of
// none of them explain it, as in a file without processes.
std::string explain_missing_intervals(const Report& report,
                                      const std::vector<const CaseRecord*>& cases) {
  std::size_t few = 0, few_at_speed = 0;
  for (const IntervalBasis& basis : find_interval_bases(report, cases)) {
    if (basis.measured == 0 || basis.usable >= kMinIntervalProcesses) continue;
    ++(basis.measured < kMinIntervalProcesses ? few : few_at_speed);
  }
  const auto of_them = [&](std::size_t count) {
    return count == cases.size() ? std::string() : fmt::format("{} of them: ", count);
  };
  std::string text;
  if (few > 0) {
    text = fmt::format(
        ": {}fewer than the {} processes that one needs measured {} (`--set "
        "measure.processes={}`)",
        of_them(few), kMinIntervalProcesses, few == 1 ? "it" : "them", kMinIntervalProcesses);
  }
  if (few_at_speed > 0) {
    text += fmt::format(
        "{} {}fewer than {} of {} processes have samples at a known speed of the machine",
        text.empty() ? ":" : ",", of_them(few_at_speed), kMinIntervalProcesses,
        few_at_speed == 1 ? "its" : "their");
  }
  return text;
}

// Says why no time is certain, and what would make it certain.
std::string explain_uncertainty(const Report& report, const CaseSum& sum) {
  std::vector<const CaseRecord*> without_interval;
  std::map<Flag, std::size_t> flags;
  for (const SummedCase& entry : sum.cases) {
    if (!entry.record->time->low || !entry.record->time->high)
      without_interval.push_back(entry.record);
    for (const Flag flag : doubtful_flags(entry.record->flags)) ++flags[flag];
  }
  std::string text = "No finding is certain: ";
  if (!without_interval.empty()) {
    text += fmt::format("{} of {} {} no interval{}", without_interval.size(),
                        pluralise(sum.cases.size(), "time"),
                        without_interval.size() == 1 ? "has" : "have",
                        explain_missing_intervals(report, without_interval));
  }
  for (const auto& [flag, count] : flags) {
    text += fmt::format("{}{} {} `{}`: {}", text.ends_with(": ") ? "" : "; ", count,
                        count == 1 ? "is" : "are", to_string(flag), describe_flag(flag));
  }
  return text + ".";
}

// Says why a run has no finding.
std::string explain_no_findings(const Report& report, const CaseSum& sum) {
  if (sum.cases.empty()) return "There is no finding, since no case has a time.";
  const bool has_certain = std::ranges::any_of(
      sum.cases, [](const SummedCase& entry) { return has_certain_interval(*entry.record); });
  if (!has_certain) return explain_uncertainty(report, sum);
  const bool has_ceiling = std::ranges::any_of(
      sum.cases, [](const SummedCase& entry) { return entry.ideal.has_value(); });
  if (!has_ceiling) {
    return "How much could be gained is unknown, since the ceilings are; `bench peak` measures "
           "them. No few cases take most of the time.";
  }
  return fmt::format(
      "No case stands out: none is certainly below {:.0f} % of its ceiling with {:.0f} % or more "
      "of "
      "the time of all cases to gain, and no few cases take most of the time.",
      100 * kMaxNeeded, 100 * kMinGain);
}

// Collects findings in their order as long as there is room.
class FindingList {
 public:
  void add(std::optional<PageFinding> finding) {
    if (finding && list_.size() < kMaxFindings) list_.push_back(*std::move(finding));
  }
  std::vector<PageFinding> take() && { return std::move(list_); }

 private:
  std::vector<PageFinding> list_;
};

}  // namespace

PageFindings run_findings(const Report& report) {
  const CaseSum sum = sum_cases(report, SumOf::timed);
  const std::vector<PageFinding> gains = find_gains(sum);
  FindingList list;
  list.add(find_failures(report));
  if (!gains.empty()) list.add(gains.front());
  list.add(find_few_long_cases(sum));
  if (gains.size() > 1) list.add(gains.back());
  list.add(find_advice(sum));
  list.add(find_noise(report));
  PageFindings findings{std::move(list).take(), ""};
  if (findings.list.empty()) findings.none = explain_no_findings(report, sum);
  return findings;
}

// The findings about a gate, a comparison and a store.
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
