// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/decide.hpp"

#include "base/text.hpp"
#include "harness/judge/stage_one.hpp"
#include "harness/judge/stage_two.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/error_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace bench {
namespace {

// Urgency of open cases without a result of the screen: they come before those with one.
constexpr double kUnknownUrgency = std::numeric_limits<double>::max();
// Urgency of open cases whose duets show a slowdown: they come before all others.
constexpr double kMaxUrgency = std::numeric_limits<double>::infinity();

// The interim analyses of one test. Each takes place after twice as many duets as the one before.
// All of them share the test's error.
struct AnalysisSchedule {
  int first, last;  // number of duets at the first and at the last analysis
  // Returns the number of duets at the first analysis after `done` duets; `last` if there is none.
  int next(int done) const {
    int duets = first;
    while (duets <= done && duets < last) duets = std::min(last, 2 * duets);
    return duets;
  }
  // Returns the number of analyses.
  int count() const {
    int analyses = 1;
    for (int duets = first; duets < last; duets = next(duets)) ++analyses;
    return analyses;
  }
};
AnalysisSchedule first_schedule(const GatePolicy& policy) {
  return {policy.first_duets, policy.last_duets};
}
AnalysisSchedule confirmation_schedule(const GatePolicy& policy) {
  return {std::min(policy.first_confirmations, policy.last_confirmations),
          policy.last_confirmations};
}

// Returns the smallest number n of duets for which an equal sign of all effects proves a
// difference: the probability 2^-n of this by chance is at most `error`.
int min_duets_by_sign(double error) { return static_cast<int>(std::ceil(-std::log2(error))); }

// Describes growth of the peak memory beyond `allowed`, a fraction (`gate: { memory: ... }`).
// Returns nullopt if it grew by less. Memory is exact, so one value per side is enough.
std::optional<std::string> memory_growth(const ExactProperties& base,
                                         const ExactProperties& candidate, double allowed) {
  if (!base.peak || !candidate.peak || base.peak->count <= 0) return std::nullopt;
  const std::int64_t from = base.peak->count, to = candidate.peak->count;
  const double growth = static_cast<double>(to) / static_cast<double>(from) - 1;
  if (growth <= allowed) return std::nullopt;
  return fmt::format("its peak memory grew by {:.1f} %, from {} to {} bytes", 100 * growth, from,
                     to);
}

std::string format_outcome(Outcome outcome, const std::string& reason) {
  return fmt::format("{}: {}", to_string(outcome), reason);
}

// Describes why a side has no time, with a verb: "crashed: SIGSEGV".
std::string format_failure(Outcome outcome, const std::string& reason) {
  constexpr std::array<std::string_view, 7> kVerbs = {"ended",
                                                      "computed a wrong result",
                                                      "does not support the case",
                                                      "skipped the case",
                                                      "crashed",
                                                      "timed out",
                                                      "failed"};
  static_assert(kVerbs.size() == enumerator_names<Outcome>().size());
  return fmt::format("{}: {}", kVerbs[static_cast<std::size_t>(outcome)], reason);
}

// Returns the exact properties of the base, or of the comparable stored run; nullptr if there are
// none.
const ExactProperties* find_base_properties(const CaseEvidence& entry) {
  if (entry.base) return &*entry.base;
  if (entry.stored && !entry.stored->incomparable) return &entry.stored->measured.exact;
  return nullptr;
}

// Returns whether disturbed duets determine the size of the effect: most duets are disturbed, or
// the undisturbed ones alone show a size outside of the interval.
bool has_uncertain_size(const PairedResult& result) {
  if (2 * result.disturbed > result.duets) return true;
  const std::optional<double>& alone = result.undisturbed_effect;
  return alone && ((result.low && *alone < *result.low) || (result.high && *alone > *result.high));
}

std::string explain_uncertain_size(const PairedResult& result) {
  std::string text = fmt::format(
      "the size of the effect is uncertain: during {} of its {}, other programs interrupted nearly "
      "every round",
      result.disturbed, pluralise(result.duets, "duet"));
  if (result.undisturbed_effect) {
    text += fmt::format("; the other {} show {:+.1f} %", result.duets - result.disturbed,
                        100 * std::expm1(*result.undisturbed_effect));
  }
  return text;
}

class Decider {
 public:
  explicit Decider(const GateEvidence& evidence)
      : evidence_(evidence),
        policy_(evidence.policy),
        delta_(std::log1p(evidence.settings.delta)),
        detect_(std::log1p(evidence.settings.detect)) {}

  Decision run() {
    decision_.judgements.resize(evidence_.cases.size());
    for (std::size_t i = 0; i < evidence_.cases.size(); ++i) begin_case(i);
    if (evidence_.mode == GateEvidence::Mode::paired) {
      decide_paired();
    } else {
      for (const OpenCase& open : open_cases_) decide_windowed(open);
    }
    for (const std::string& id : evidence_.removed) add_removed(id);
    std::ranges::stable_sort(decision_.requests, std::greater<>(), &MeasurementRequest::urgency);
    return std::move(decision_);
  }

 private:
  // A case that needs a measurement to be decided.
  struct OpenCase {
    std::size_t index;    // index into GateEvidence::cases
    double urgency;       // as MeasurementRequest::urgency
    std::string finding;  // result of the screen; may be empty
  };
  // The open cases with at least one duet, and their statistics, in the same order. All open cases
  // are one family of tests. Those without duets, or with fewer than the first interim analysis
  // needs, have p-values of 1.
  struct Family {
    std::vector<OpenCase> members;
    std::vector<PairedResult> results;
    // Adjusted p-values in the order of the members; those of the cases without duets follow.
    std::vector<double> slower, faster;
    std::size_t unanalysed = 0;  // number of open cases before their first interim analysis
  };
  // What to report about a case that is not decided yet.
  struct Undecided {
    Pending pending;
    std::string_view finding;  // result of its measurements so far; may be empty
  };

  void begin_case(std::size_t index);
  bool settle_without_time(std::size_t index, CaseAssessment& judgement);
  bool settle_absent(std::size_t index, const std::string& why, CaseAssessment& judgement);
  void decide_paired();
  Family collect_family();
  void judge_pair(const Family& all, std::size_t member);
  void judge_unclear(const OpenCase& open, const PairedResult& first, std::size_t unanalysed,
                     CaseAssessment& judgement);
  void judge_regression(const OpenCase& open, const PairedResult& first, CaseAssessment& judgement);
  bool is_far_beyond_scatter(const PairedResult& result) const;
  bool is_obvious(const PairedResult& result) const {
    return result.p_slower <= policy_.unconfirmed_error && is_far_beyond_scatter(result);
  }
  void leave_undecided(const Undecided& undecided, CaseAssessment& judgement) const;
  void judge_growth(const OpenCase& open, Duet::Stage stage, CaseAssessment& judgement);
  void decide_windowed(const OpenCase& open);
  void add_removed(const std::string& id);
  void add_request(const OpenCase& open, MeasurementRequest::Kind kind, int count) {
    decision_.requests.push_back({open.index, kind, count, open.urgency});
  }
  void add_urgent_request(const OpenCase& open, MeasurementRequest::Kind kind, int count) {
    add_request({open.index, kMaxUrgency, ""}, kind, count);
  }

  const GateEvidence& evidence_;
  const GatePolicy& policy_;
  const double delta_, detect_;  // logarithms
  Decision decision_;
  std::vector<OpenCase> open_cases_;
};

// Decides the case, or adds it to the open ones.
void Decider::begin_case(std::size_t index) {
  const CaseEvidence& entry = evidence_.cases[index];
  CaseAssessment& judgement = decision_.judgements[index];
  judgement.id = entry.id();
  judgement.source = entry.candidate.source;
  if (const auto& median = entry.candidate.median) {
    judgement.candidate = std::chrono::round<Nanoseconds>(*median);
  }
  if (const ExactProperties* base = find_base_properties(entry); base != nullptr) {
    judgement.changes = case_changes(*base, entry.candidate.exact);
  }
  if (settle_without_time(index, judgement)) return;
  const ScreenResult screened = screen(entry, evidence_.settings);
  if (screened.excess) {
    judgement.against = Reference::store;
    judgement.effect = std::expm1(*screened.excess);
    judgement.base = time_from_log<Nanoseconds>(entry.stored->log_level);
    judgement.candidate = time_from_log<Nanoseconds>(entry.stored->log_level + *screened.excess);
  }
  if (screened.state == ScreenResult::State::clear) {
    judgement.course = CaseAssessment::Course::screened_out;
    return;
  }
  // Urgency is in units of the case's noise, so that the clearest regression comes first.
  const double urgency = screened.excess && entry.stored->sigma > 0
                             ? *screened.excess / entry.stored->sigma
                             : kUnknownUrgency;
  open_cases_.push_back({index, urgency, screened.reason});
}

// Decides the case if it was not measured, failed, needs more memory, or has nothing to compare
// with: no base that computes it and no comparable stored run. Returns false if its time must be
// compared.
bool Decider::settle_without_time(std::size_t index, CaseAssessment& judgement) {
  const CaseEvidence& entry = evidence_.cases[index];
  const bool has_failed_later =
      entry.failure && entry.failure->side == SideFailure::Side::candidate;
  const Outcome outcome = has_failed_later ? entry.failure->outcome : entry.candidate.outcome;
  const std::string why =
      has_failed_later ? entry.failure->reason : entry.candidate.reason.value_or("");
  const auto settle = [&](Verdict verdict, std::string reason) {
    judgement.verdict = verdict;
    judgement.reason = std::move(reason);
    return true;
  };
  if (entry.is_unmeasured) {
    judgement.cut_short = true;
    return settle(Verdict::inconclusive,
                  fmt::format("{} before it was measured", format_stop_cause(evidence_.stopped)));
  }
  if (outcome != Outcome::ok) {
    const std::string text = format_outcome(outcome, why);
    return is_failure(outcome) ? settle(Verdict::error, text)
                               : settle_absent(index, text, judgement);
  }
  if (const ExactProperties* base = find_base_properties(entry); base != nullptr) {
    if (const auto growth =
            memory_growth(*base, entry.candidate.exact, evidence_.settings.memory)) {
      return settle(Verdict::regression, *growth);
    }
  }
  if (entry.failure) {
    judgement.cut_short = is_failure(entry.failure->outcome);
    return settle(Verdict::incomparable,
                  "the base " + format_failure(entry.failure->outcome, entry.failure->reason));
  }
  if (evidence_.mode == GateEvidence::Mode::paired) return false;
  if (!entry.stored) {
    return settle(Verdict::no_baseline, "the store has no run of this case, and there is no base");
  }
  if (entry.stored->incomparable) {
    return settle(entry.stored->is_malformed ? Verdict::error : Verdict::incomparable,
                  *entry.stored->incomparable);
  }
  return false;
}

// Decides a case that the candidate does not compute: an error if the store or the base computed
// it, else incomparable. Requests a check of the base if it is not known whether the base computes
// it.
bool Decider::settle_absent(std::size_t index, const std::string& why, CaseAssessment& judgement) {
  const CaseEvidence& entry = evidence_.cases[index];
  const bool is_stored =
      entry.stored && (!entry.stored->incomparable || entry.stored->is_malformed);
  judgement.verdict = is_stored || entry.base ? Verdict::error : Verdict::incomparable;
  judgement.reason = is_stored    ? "was measured before, but is now " + why
                     : entry.base ? "the base computes it, but the candidate does not: " + why
                                  : why;
  if (judgement.verdict == Verdict::error || evidence_.mode != GateEvidence::Mode::paired) {
    return true;
  }
  if (entry.failure && entry.failure->side == SideFailure::Side::base) {
    judgement.cut_short = is_failure(entry.failure->outcome);
    judgement.reason +=
        "; the base: " + format_outcome(entry.failure->outcome, entry.failure->reason);
    return true;
  }
  leave_undecided({{MeasurementRequest::Kind::base, 0, 1}, why}, judgement);
  add_request({index, kUnknownUrgency, ""}, MeasurementRequest::Kind::base, 1);
  return true;
}

void Decider::decide_paired() {
  const Family all = collect_family();
  for (std::size_t i = 0; i < all.members.size(); ++i) judge_pair(all, i);
}

Decider::Family Decider::collect_family() {
  Family all;
  std::vector<double> slower, faster;
  const double analyses = first_schedule(policy_).count();
  for (const OpenCase& open : open_cases_) {
    const auto result =
        compute_paired_result(evidence_.cases[open.index].duets, Duet::Stage::first, policy_);
    const int done = result ? result->duets : 0;
    const bool is_complete = done >= policy_.first_duets;
    if (!is_complete) {
      ++all.unanalysed;
      add_request(open, MeasurementRequest::Kind::duets, policy_.first_duets - done);
    }
    if (!result) {
      leave_undecided({{MeasurementRequest::Kind::duets, 0, policy_.first_duets}, open.finding},
                      decision_.judgements[open.index]);
      continue;
    }
    all.members.push_back(open);
    all.results.push_back(*result);
    slower.push_back(is_complete ? std::min(1.0, analyses * result->p_slower) : 1);
    faster.push_back(is_complete ? std::min(1.0, analyses * result->p_faster) : 1);
  }
  // Missing p-values count as 1 (no effect). This can only delay a finding, so every finding
  // remains valid if the budget ends.
  slower.resize(open_cases_.size(), 1);
  faster.resize(open_cases_.size(), 1);
  all.slower = adjusted_p_values(slower);
  all.faster = adjusted_p_values(faster);
  return all;
}

void Decider::judge_pair(const Family& all, std::size_t member) {
  const OpenCase& open = all.members[member];
  const PairedResult& first = all.results[member];
  const double slower = all.slower[member];
  const double faster = all.faster[member];
  CaseAssessment& judgement = decision_.judgements[open.index];
  judgement.course = CaseAssessment::Course::measured_again;
  judgement.against = Reference::base;
  judgement.duets = first.duets;
  judgement.effect = std::expm1(first.effect);
  if (first.low) judgement.low = std::expm1(*first.low);
  if (first.high) judgement.high = std::expm1(*first.high);
  judgement.p = first.effect < 0 ? first.p_faster : first.p_slower;
  if (first.duets >= policy_.first_duets) judgement.adjusted_p = first.effect < 0 ? faster : slower;
  judgement.base = first.base;
  judgement.candidate = first.candidate;
  if (is_obvious(first)) {
    judge_growth(open, Duet::Stage::first, judgement);
  } else if (slower <= policy_.false_discovery_rate && first.effect >= delta_) {
    judge_regression(open, first, judgement);
  } else if (faster <= policy_.false_discovery_rate && first.effect <= -delta_) {
    judgement.verdict = Verdict::improved;
  } else if (!first.pass_bound || *first.pass_bound >= detect_) {
    judge_unclear(open, first, all.unanalysed, judgement);
  }
  // Other verdicts have a reason, which says that the effect is not decided.
  const bool is_decided = judgement.verdict == Verdict::regression ||
                          judgement.verdict == Verdict::improved ||
                          judgement.verdict == Verdict::pass;
  if (is_decided && has_uncertain_size(first)) judgement.reason = explain_uncertain_size(first);
}

// Whether the effect exceeds the scatter of its duets so far that it needs no confirming duets.
// (The signed-rank test must reject equality as well; see is_obvious().) The effect must be at
// least `obvious_effect`, and the lower bound of the mean by Student's t at least `delta`. The
// error of the bound is that of unconfirmed regressions, divided among all open cases and
// interim analyses (Bonferroni). Unlike a test of ranks, t depends on how far the duets exceed
// their scatter. But ten A/A duets agree in sign by chance in 1 of 1,024 cases, and a machine with
// two states may then show no scatter. Such states differ by less than `obvious_effect`.
bool Decider::is_far_beyond_scatter(const PairedResult& result) const {
  if (!result.deviation || result.effect < std::log1p(policy_.obvious_effect)) return false;
  const double error = policy_.unconfirmed_error /
                       (first_schedule(policy_).count() * static_cast<double>(open_cases_.size()));
  const double t = student_t_quantile(1 - error, result.duets - 1);
  return result.mean - t * *result.deviation / std::sqrt(result.duets) >= delta_;
}

// Judges a case that its duets show neither as slower nor as faster, and that does not pass.
void Decider::judge_unclear(const OpenCase& open, const PairedResult& first, std::size_t unanalysed,
                            CaseAssessment& judgement) {
  if (first.detectable) judgement.detectable = std::expm1(*first.detectable);
  if (first.duets < policy_.first_duets) {  // collect_family() requested the missing duets
    leave_undecided({{MeasurementRequest::Kind::duets, first.duets, policy_.first_duets}, ""},
                    judgement);
    return;
  }
  const double detectable_percent = 100 * judgement.detectable.value_or(0);
  const int next = first_schedule(policy_).next(first.duets);
  if (next > first.duets) {
    // If the effect is obvious and only too few duets agree in sign, a few more decide the case
    // before the next interim analysis.
    const int enough = min_duets_by_sign(policy_.unconfirmed_error);
    if (first.duets < enough && enough < next && is_far_beyond_scatter(first)) {
      leave_undecided({{MeasurementRequest::Kind::duets, first.duets, enough}, ""}, judgement);
      add_urgent_request(open, MeasurementRequest::Kind::duets, enough - first.duets);
      return;
    }
    leave_undecided({{MeasurementRequest::Kind::duets, first.duets, next}, ""}, judgement);
    // All open cases get their first interim analysis before any of them gets a second one.
    // Exception: a case that looks slower, because among many cases its first duets alone cannot
    // prove it.
    if (first.effect >= delta_ && first.p_slower <= policy_.false_discovery_rate) {
      add_urgent_request(open, MeasurementRequest::Kind::duets, next - first.duets);
    } else if (unanalysed == 0) {
      add_request(open, MeasurementRequest::Kind::duets, next - first.duets);
    }
    return;
  }
  judgement.verdict = Verdict::inconclusive;
  const auto needed = estimate_duets(first, detect_, policy_);
  judgement.reason = fmt::format(
      "undecided after {} duets, whose minimum detectable effect is {:.1f} %; {}", first.duets,
      detectable_percent,
      needed ? fmt::format("about {} duets or a quieter machine would decide it", *needed)
             : std::string("a quieter machine or a longer case would help"));
}

// Judges a case that the first duets show as slower: the confirming duets decide.
void Decider::judge_regression(const OpenCase& open, const PairedResult& first,
                               CaseAssessment& judgement) {
  const auto confirmed =
      compute_paired_result(evidence_.cases[open.index].duets, Duet::Stage::confirmation, policy_);
  judgement.confirmations = confirmed ? confirmed->duets : 0;
  if (policy_.last_confirmations == 0) {
    judge_growth(open, Duet::Stage::first, judgement);
    return;
  }
  if (confirmed) {
    judgement.confirmed_effect = std::expm1(confirmed->effect);
    judgement.confirmed_p = confirmed->p_slower;
  }
  const AnalysisSchedule schedule = confirmation_schedule(policy_);
  const int next = schedule.next(judgement.confirmations);
  const double error = policy_.confirmation_error / schedule.count();
  // If the confirming duets exclude an effect of `delta`, more of them cannot confirm it.
  const bool is_refuted = confirmed && judgement.confirmations >= schedule.first &&
                          confirmed->high && *confirmed->high < delta_;
  const bool needs_more = next > judgement.confirmations && !is_refuted;
  // The test is valid for any number of confirming duets, so it also counts if they end early.
  if (confirmed && confirmed->p_slower <= error && confirmed->effect >= delta_) {
    judge_growth(open, Duet::Stage::confirmation, judgement);
  } else if (needs_more) {
    add_urgent_request(open, MeasurementRequest::Kind::confirmation,
                       next - judgement.confirmations);
    leave_undecided({{MeasurementRequest::Kind::confirmation, judgement.confirmations, next}, ""},
                    judgement);
  } else {
    judgement.verdict = Verdict::inconclusive;
    judgement.reason = fmt::format("not confirmed: fresh duets measured {:+.2f} %",
                                   100 * *judgement.confirmed_effect);
  }
  if (judgement.verdict == Verdict::inconclusive && first.detectable) {
    judgement.detectable = std::expm1(*first.detectable);
  }
}

void Decider::leave_undecided(const Undecided& undecided, CaseAssessment& judgement) const {
  judgement.verdict = Verdict::inconclusive;
  judgement.cut_short = true;
  judgement.pending = undecided.pending;
  judgement.reason = fmt::format("{} after {}", format_stop_cause(evidence_.stopped),
                                 format_pending(undecided.pending));
  if (!undecided.finding.empty()) judgement.reason += fmt::format(" ({})", undecided.finding);
}

// Sets the verdict of a case whose time grew: REGRESSION, or SUSPECT if its GPU cycles did not
// grow. A lower device clock, not the code, then explains the time (docs/gate.md, On a GPU).
void Decider::judge_growth(const OpenCase& open, Duet::Stage stage, CaseAssessment& judgement) {
  judgement.verdict = Verdict::regression;
  const auto cycles = compute_paired_cycles(evidence_.cases[open.index].duets, stage);
  if (!cycles) return;
  const bool has_grown = cycles->effect >= delta_ && cycles->p_slower <= policy_.confirmation_error;
  if (has_grown) return;
  judgement.verdict = Verdict::suspect;
  judgement.reason = fmt::format(
      "time grew, but GPU cycles changed by {:+.2f} %; the device's clock was {:.2f} GHz for the "
      "base, {:.2f} GHz for the candidate",
      100 * std::expm1(cycles->effect), cycles->base_hz / 1e9, cycles->candidate_hz / 1e9);
}

void Decider::decide_windowed(const OpenCase& open) {
  const CaseEvidence& entry = evidence_.cases[open.index];
  CaseAssessment& judgement = decision_.judgements[open.index];
  const auto done = static_cast<int>(entry.windows.size());
  if (done < policy_.windows) {
    add_request(open, MeasurementRequest::Kind::windows, policy_.window_processes);
    leave_undecided({{MeasurementRequest::Kind::windows, done, policy_.windows}, ""}, judgement);
    return;
  }
  judge_windows(entry, evidence_, judgement);
}

void Decider::add_removed(const std::string& id) {
  CaseAssessment judgement;
  judgement.id = id;
  judgement.verdict = Verdict::error;
  judgement.reason = "stored case not in the configuration; --allow-removed accepts this";
  decision_.judgements.push_back(std::move(judgement));
}

}  // namespace

std::string format_pending(const Pending& pending) {
  constexpr std::array<std::string_view, 4> kUnits = {"duets", "confirming duets", "repeat runs",
                                                      "checks of the base"};
  static_assert(kUnits.size() == enumerator_names<MeasurementRequest::Kind>().size());
  return fmt::format("{} of {} {}", pending.done, pending.planned,
                     kUnits[static_cast<std::size_t>(pending.kind)]);
}

Decision decide(const GateEvidence& evidence) { return Decider(evidence).run(); }

std::size_t count(const std::vector<CaseAssessment>& judgements, Verdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count(judgements, verdict, &CaseAssessment::verdict));
}

bool needs_kit(Verdict verdict) {
  return verdict == Verdict::regression || verdict == Verdict::error || verdict == Verdict::suspect;
}

}  // namespace bench
