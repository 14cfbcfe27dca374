// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_two.hpp"

#include "harness/result/quiet.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/median.hpp"
#include "harness/stats/signed_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {

namespace {

// No message proposes more duets than this.
constexpr int kMaxProposed = 1000;

Nanoseconds side_median(const std::vector<const Duet*>& duets,
                        std::vector<Nanoseconds> Duet::*side) {
  std::vector<double> medians;
  for (const Duet* duet : duets) {
    std::vector<double> times;
    for (const std::size_t round : counted_rounds(*duet)) {
      const Nanoseconds sample = (duet->*side)[round];
      times.push_back(static_cast<double>(sample.count()) /
                      static_cast<double>(duet->iterations_per_sample));
    }
    if (const auto middle = median(times)) medians.push_back(*middle);
  }
  return Nanoseconds(std::llround(median(medians).value_or(0)));
}

// Computed as a difference, so that swapped sides give exactly the negated value.
double log_difference(std::int64_t from, std::int64_t to) {
  return std::log(static_cast<double>(to)) - std::log(static_cast<double>(from));
}

}  // namespace

std::vector<std::size_t> counted_rounds(const Duet& duet) {
  std::vector<std::size_t> all, same, quiet;
  const std::size_t rounds = std::min(duet.base.size(), duet.candidate.size());
  const bool has_canaries = duet.base_canary.size() == rounds &&
                            duet.candidate_canary.size() == rounds &&
                            duet.quiet_level > Nanoseconds(0);
  for (std::size_t i = 0; i < rounds; ++i) {
    all.push_back(i);
    if (!has_canaries) continue;
    const auto [fast, slow] = std::minmax(duet.base_canary[i], duet.candidate_canary[i]);
    if (is_quiet(slow, fast)) same.push_back(i);
    if (is_quiet(slow, duet.quiet_level)) quiet.push_back(i);
  }
  if (quiet.size() >= kMinCountedRounds) return quiet;
  return same.size() >= kMinCountedRounds ? same : all;
}

std::optional<double> log_ratio(const Duet& duet) {
  std::vector<double> ratios;
  for (const std::size_t i : counted_rounds(duet)) {
    if (duet.base[i].count() <= 0 || duet.candidate[i].count() <= 0) continue;
    ratios.push_back(log_difference(duet.base[i].count(), duet.candidate[i].count()));
  }
  return median(ratios);
}

std::optional<double> log_cycle_ratio(const Duet& duet) {
  std::vector<double> ratios;
  const std::size_t rounds = std::min({duet.base.size(), duet.candidate.size(),
                                       duet.base_clock_hz.size(), duet.candidate_clock_hz.size()});
  for (std::size_t i = 0; i < rounds; ++i) {
    if (duet.base[i].count() <= 0 || duet.candidate[i].count() <= 0) continue;
    if (duet.base_clock_hz[i] <= 0 || duet.candidate_clock_hz[i] <= 0) continue;
    ratios.push_back(log_difference(duet.base[i].count(), duet.candidate[i].count()) +
                     log_difference(duet.base_clock_hz[i], duet.candidate_clock_hz[i]));
  }
  return median(ratios);
}

std::optional<PairedCycles> paired_cycles(const std::vector<Duet>& duets, Duet::Stage stage) {
  std::vector<double> differences, base, candidate;
  for (const Duet& duet : duets) {
    if (duet.stage != stage || !log_ratio(duet)) continue;
    const std::optional<double> ratio = log_cycle_ratio(duet);
    if (!ratio) return std::nullopt;
    differences.push_back(*ratio);
    base.insert(base.end(), duet.base_clock_hz.begin(), duet.base_clock_hz.end());
    candidate.insert(candidate.end(), duet.candidate_clock_hz.begin(),
                     duet.candidate_clock_hz.end());
  }
  if (differences.empty()) return std::nullopt;
  return PairedCycles{*HodgesLehmann(differences).estimate(), signed_rank_p(differences).greater,
                      *median(base), *median(candidate)};
}

std::optional<PairedResult> paired_result(const std::vector<Duet>& duets, Duet::Stage stage,
                                          const GatePolicy& policy) {
  std::vector<const Duet*> used;
  std::vector<double> differences;
  for (const Duet& duet : duets) {
    const std::optional<double> ratio = log_ratio(duet);
    if (duet.stage != stage || !ratio) continue;
    used.push_back(&duet);
    differences.push_back(*ratio);
  }
  if (differences.empty()) return std::nullopt;
  PairedResult result;
  result.duets = static_cast<int>(differences.size());
  const HodgesLehmann located(differences);
  const HodgesLehmann::Bounds bounds = located.bounds(policy.bound_error);
  const SignedRankP p = signed_rank_p(differences);
  result.effect = *located.estimate();
  result.mean = std::accumulate(differences.begin(), differences.end(), 0.0) / result.duets;
  result.low = bounds.low;
  result.high = bounds.high;
  result.excluded = located.bounds(policy.pass_error).high;
  result.p_slower = p.greater;
  result.p_faster = p.less;
  result.deviation = standard_deviation(differences);
  if (result.deviation) {
    result.detectable = detectable_effect(*result.deviation, result.duets, policy.detectable_error,
                                          policy.detectable_power);
  }
  result.base = side_median(used, &Duet::base);
  result.candidate = side_median(used, &Duet::candidate);
  return result;
}

Nanoseconds time_from_log(double log) { return Nanoseconds(std::llround(std::exp(log))); }

std::optional<int> duets_needed(const PairedResult& result, double log_effect,
                                const GatePolicy& policy) {
  if (!result.deviation || log_effect <= 0) return std::nullopt;
  // The minimum detectable effect shrinks with each pair, so bisection works.
  const auto suffices = [&](int pairs) {
    const auto found = detectable_effect(*result.deviation, pairs, policy.detectable_error,
                                         policy.detectable_power);
    return found && *found <= log_effect;
  };
  if (!suffices(kMaxProposed)) return std::nullopt;
  int too_few = 1, enough = kMaxProposed;
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    (suffices(middle) ? enough : too_few) = middle;
  }
  return enough;
}

namespace {

std::vector<double> compute_differences(const Window& window, double mean_log_q25) {
  std::vector<double> differences;
  for (const Window::Process& process : window.processes) {
    if (process.q25.count() <= 0) continue;
    differences.push_back(std::log(static_cast<double>(process.q25.count()) /
                                   static_cast<double>(process.iterations_per_sample)) -
                          mean_log_q25);
  }
  return differences;
}

struct Bounds {
  std::vector<std::vector<double>> windows;
  std::vector<double> pooled;
};

Bounds compute_differences(const CaseEvidence& entry) {
  Bounds result;
  for (const Window& window : entry.windows) {
    result.windows.push_back(compute_differences(window, entry.stored->mean_log_q25));
    result.pooled.insert(result.pooled.end(), result.windows.back().begin(),
                         result.windows.back().end());
  }
  return result;
}

// Returns the run-to-run variation on this machine class.
double run_to_run_variation(const StoredEvidence& stored, const GatePolicy& policy) {
  const bool known = stored.runs >= policy.few_runs && stored.q99;
  return known ? *stored.q99 : std::log1p(policy.unknown_spread);
}

bool all_above(const Bounds& bounds, double limit, double error) {
  return std::ranges::all_of(bounds.windows, [&](const std::vector<double>& window) {
    const auto low = HodgesLehmann(window).bounds(error).low;
    return low && *low > limit;
  });
}

bool all_below(const Bounds& bounds, double limit, double error) {
  return std::ranges::all_of(bounds.windows, [&](const std::vector<double>& window) {
    const auto high = HodgesLehmann(window).bounds(error).high;
    return high && *high < limit;
  });
}

// Returns the effect in device cycles, from the clocks of this run and the last stored run.
std::optional<double> effect_in_cycles(const CaseEvidence& entry, double effect) {
  const std::int64_t here = entry.candidate.clock_hz.value_or(0);
  const std::int64_t stored = entry.stored->measured.clock_hz.value_or(0);
  if (here <= 0 || stored <= 0) return std::nullopt;
  return effect + std::log(static_cast<double>(here) / static_cast<double>(stored));
}

std::string unexplained(const std::optional<MachineDrift>& moved, double spread) {
  std::string text = fmt::format("the run-to-run variation is {:.1f} %", 100 * std::expm1(spread));
  if (moved) text = moved->text + ", and " + text;
  return text + "; use --base to detect smaller effects";
}

}  // namespace

void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence,
                   CaseAssessment& judgement) {
  const GatePolicy& policy = evidence.policy;
  const Bounds bounds = compute_differences(entry);
  const HodgesLehmann located(bounds.pooled);
  const double effect = located.estimate().value_or(0);
  const auto [low, high] = located.bounds(policy.bound_error);
  const double spread = run_to_run_variation(*entry.stored, policy);
  const double delta = std::log1p(evidence.settings.delta);
  // A change of machine speed can look like an effect or hide one.
  const double drift = evidence.moved ? evidence.moved->log : 0;
  const double margin = delta + spread + drift;
  judgement.course = CaseAssessment::Course::measured_again;
  judgement.against = Reference::store;
  judgement.base = time_from_log(entry.stored->mean_log_q25);
  judgement.candidate = time_from_log(entry.stored->mean_log_q25 + effect);
  judgement.effect = std::expm1(effect);
  if (low) judgement.low = std::expm1(*low);
  if (high) judgement.high = std::expm1(*high);
  judgement.reason.clear();
  if (all_above(bounds, margin, policy.bound_error)) {
    judgement.verdict = Verdict::regression;
    if (const auto cycles = effect_in_cycles(entry, effect); cycles && *cycles < delta) {
      judgement.verdict = Verdict::suspect;
      judgement.reason = fmt::format(
          "time grew, but GPU cycles changed by {:+.2f} %; the device's clock was {:.2f} GHz in "
          "the store, {:.2f} GHz here",
          100 * std::expm1(*cycles), static_cast<double>(*entry.stored->measured.clock_hz) / 1e9,
          static_cast<double>(*entry.candidate.clock_hz) / 1e9);
    }
  } else if (all_below(bounds, -margin, policy.bound_error)) {
    judgement.verdict = Verdict::improved;
  } else if (high && *high + drift < std::log1p(evidence.settings.detect)) {
    judgement.verdict = Verdict::pass;
  } else {
    judgement.verdict = effect >= delta ? Verdict::suspect : Verdict::inconclusive;
    judgement.reason = unexplained(evidence.moved, spread);
    if (std::isfinite(margin)) judgement.detectable = std::expm1(margin);
  }
}

}  // namespace bench
