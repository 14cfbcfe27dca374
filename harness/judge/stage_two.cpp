// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_two.hpp"

#include "harness/judge/stage_one.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/signed_rank.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {

namespace {

// Maximum number of duets that a message proposes.
constexpr int kMaxProposedDuets = 1000;
// Number of undisturbed duets from which an effect is estimated.
constexpr std::size_t kMinUndisturbedDuets = 3;

// Returns the median time of an iteration on one side, over the medians of the duets.
Nanoseconds side_median(const std::vector<const Duet*>& duets,
                        std::vector<Nanoseconds> Duet::*side) {
  std::vector<double> medians;
  for (const Duet* duet : duets) {
    if (const auto middle = duet_median(*duet, side)) medians.push_back(*middle);
  }
  return Nanoseconds(std::llround(median(medians).value_or(0)));
}

}  // namespace

std::optional<PairedCycles> compute_paired_cycles(const std::vector<Duet>& duets,
                                                  Duet::Stage stage) {
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

std::optional<PairedResult> compute_paired_result(const std::vector<Duet>& duets, Duet::Stage stage,
                                                  const GatePolicy& policy) {
  std::vector<const Duet*> used;
  std::vector<double> differences, undisturbed;
  for (const Duet& duet : duets) {
    const std::optional<double> ratio = log_ratio(duet);
    if (duet.stage != stage || !ratio) continue;
    used.push_back(&duet);
    differences.push_back(*ratio);
    if (!is_disturbed(duet)) undisturbed.push_back(*ratio);
  }
  if (differences.empty()) return std::nullopt;
  PairedResult result;
  result.duets = static_cast<int>(differences.size());
  const HodgesLehmann estimator(differences);
  const HodgesLehmann::Bounds bounds = estimator.bounds(policy.bound_error);
  const SignedRankP p = signed_rank_p(differences);
  result.effect = *estimator.estimate();
  result.mean = std::accumulate(differences.begin(), differences.end(), 0.0) / result.duets;
  result.low = bounds.low;
  result.high = bounds.high;
  result.pass_bound = estimator.bounds(policy.pass_error).high;
  result.p_slower = p.greater;
  result.p_faster = p.less;
  result.deviation = standard_deviation(differences);
  if (result.deviation) {
    result.detectable = detectable_effect(*result.deviation, result.duets, policy.detectable_error,
                                          policy.detectable_power);
  }
  result.disturbed = static_cast<int>(differences.size() - undisturbed.size());
  if (result.disturbed > 0 && undisturbed.size() >= kMinUndisturbedDuets) {
    result.undisturbed_effect = HodgesLehmann(undisturbed).estimate();
  }
  result.base = side_median(used, &Duet::base);
  result.candidate = time_from_log<Nanoseconds>(std::log(static_cast<double>(result.base.count())) +
                                                result.effect);
  return result;
}

std::optional<int> estimate_duets(const PairedResult& result, double log_effect,
                                  const GatePolicy& policy) {
  if (!result.deviation || log_effect <= 0) return std::nullopt;
  // More duets have a smaller minimum detectable effect, so bisection finds the number.
  const auto are_enough = [&](int duets) {
    const auto detectable = detectable_effect(*result.deviation, duets, policy.detectable_error,
                                              policy.detectable_power);
    return detectable && *detectable <= log_effect;
  };
  if (!are_enough(kMaxProposedDuets)) return std::nullopt;
  int too_few = 1, enough = kMaxProposedDuets;
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    (are_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

namespace {

// The difference of a window from the store, as a logarithm, with one-sided bounds.
struct WindowEffect {
  double effect = 0;
  std::optional<double> low, high;
};

// Returns the difference of the window's processes from the store by order statistics.
WindowEffect compare_medians(const Window& window, const StoredEvidence& stored, double error) {
  std::vector<double> differences;
  for (const Window::Process& process : window.processes) {
    if (process.median.count() <= 0) continue;
    differences.push_back(std::log(static_cast<double>(process.median.count()) /
                                   static_cast<double>(process.iterations_per_sample)) -
                          stored.log_level);
  }
  const HodgesLehmann estimator(differences);
  const HodgesLehmann::Bounds bounds = estimator.bounds(error);
  return {estimator.estimate().value_or(0), bounds.low, bounds.high};
}

// `error`: maximum error of each bound.
WindowEffect compare_window(const Window& window, const StoredEvidence& stored, double error) {
  if (!stored.by_speed || !window.by_speed) return compare_medians(window, stored, error);
  const LogEstimate difference = difference_at_equal_speed(*stored.by_speed, *window.by_speed);
  return {difference.value, difference.value - difference.half_width(),
          difference.value + difference.half_width()};
}

// Returns the means of the windows' effects and bounds. The bounds are not narrower for more
// windows, since what they have in common is not known.
WindowEffect average(const std::vector<WindowEffect>& windows) {
  WindowEffect sum{0, 0, 0};
  for (const WindowEffect& window : windows) {
    const auto count = static_cast<double>(windows.size());
    sum.effect += window.effect / count;
    sum.low = sum.low && window.low ? std::optional(*sum.low + *window.low / count) : std::nullopt;
    sum.high =
        sum.high && window.high ? std::optional(*sum.high + *window.high / count) : std::nullopt;
  }
  return sum;
}

// Returns the run-to-run variation of the case on this machine class, as a logarithm.
double find_run_to_run_variation(const StoredEvidence& stored, const GatePolicy& policy) {
  const bool is_known = stored.runs >= policy.min_runs && stored.q99;
  return is_known ? *stored.q99 : std::log1p(policy.unknown_spread);
}

// Whether the lower bound of each window is above the limit.
bool all_above(const std::vector<WindowEffect>& windows, double limit) {
  return std::ranges::all_of(
      windows, [&](const WindowEffect& window) { return window.low && *window.low > limit; });
}

// Whether the upper bound of each window is below the limit.
bool all_below(const std::vector<WindowEffect>& windows, double limit) {
  return std::ranges::all_of(
      windows, [&](const WindowEffect& window) { return window.high && *window.high < limit; });
}

// Returns the effect in device cycles, from the clocks of this run and of the last stored run.
// Returns nullopt if a clock is unknown.
std::optional<double> effect_in_cycles(const CaseEvidence& entry, double effect) {
  const std::int64_t here = entry.candidate.clock_hz.value_or(0);
  const std::int64_t stored = entry.stored->measured.clock_hz.value_or(0);
  if (here <= 0 || stored <= 0) return std::nullopt;
  return effect + std::log(static_cast<double>(here) / static_cast<double>(stored));
}

// Describes the variation within which no effect is detected.
std::string format_limits(double variation) {
  return fmt::format("the run-to-run variation is {:.1f} %; use --base to detect smaller effects",
                     100 * std::expm1(variation));
}

}  // namespace

void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence,
                   CaseAssessment& judgement) {
  const GatePolicy& policy = evidence.policy;
  std::vector<WindowEffect> windows;
  for (const Window& window : entry.windows)
    windows.push_back(compare_window(window, *entry.stored, policy.bound_error));
  const auto [effect, low, high] = average(windows);
  const double variation = find_run_to_run_variation(*entry.stored, policy);
  const double delta = std::log1p(evidence.settings.delta);
  const double margin = delta + variation;
  judgement.course = CaseAssessment::Course::measured_again;
  judgement.against = Reference::store;
  judgement.base = time_from_log<Nanoseconds>(entry.stored->log_level);
  judgement.candidate = time_from_log<Nanoseconds>(entry.stored->log_level + effect);
  judgement.effect = std::expm1(effect);
  if (low) judgement.low = std::expm1(*low);
  if (high) judgement.high = std::expm1(*high);
  if (all_above(windows, margin)) {
    judgement.verdict = Verdict::regression;
    if (const auto cycles = effect_in_cycles(entry, effect); cycles && *cycles < delta) {
      judgement.verdict = Verdict::suspect;
      judgement.reason = fmt::format(
          "time grew, but GPU cycles changed by {:+.2f} %; the device's clock was {:.2f} GHz in "
          "the store, {:.2f} GHz here",
          100 * std::expm1(*cycles), static_cast<double>(*entry.stored->measured.clock_hz) / 1e9,
          static_cast<double>(*entry.candidate.clock_hz) / 1e9);
    }
  } else if (all_below(windows, -margin)) {
    judgement.verdict = Verdict::improved;
  } else if (high && *high < std::log1p(evidence.settings.detect)) {
    judgement.verdict = Verdict::pass;
  } else {
    judgement.verdict = effect >= delta ? Verdict::suspect : Verdict::inconclusive;
    judgement.reason = format_limits(variation);
    judgement.detectable = std::expm1(margin);
  }
}

}  // namespace bench
