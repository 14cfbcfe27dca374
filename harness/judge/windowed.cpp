// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/windowed.hpp"

#include "harness/judge/paired.hpp"
#include "harness/stats/signed_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

std::vector<double> differences_of(const Window& window, double center) {
  std::vector<double> differences;
  for (const Window::Process& process : window.processes) {
    if (process.q25.count() <= 0) continue;
    differences.push_back(std::log(static_cast<double>(process.q25.count()) /
                                   static_cast<double>(process.iterations_per_sample)) -
                          center);
  }
  return differences;
}

struct Bounds {
  std::vector<std::vector<double>> windows;
  std::vector<double> pooled;
};

Bounds differences_of(const CaseEvidence& entry) {
  Bounds result;
  for (const Window& window : entry.windows) {
    result.windows.push_back(differences_of(window, entry.stored->center));
    result.pooled.insert(result.pooled.end(), result.windows.back().begin(),
                         result.windows.back().end());
  }
  return result;
}

// Returns the run-to-run variation on this machine class.
double spread_of(const StoredCase& stored, const GatePolicy& policy) {
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
  const std::int64_t here = entry.clock_hz.value_or(0);
  const std::int64_t stored = entry.stored->clock_hz.value_or(0);
  if (here <= 0 || stored <= 0) return std::nullopt;
  return effect + std::log(static_cast<double>(here) / static_cast<double>(stored));
}

std::string unexplained(const std::optional<MachineDrift>& moved, double spread) {
  std::string text = fmt::format("the run-to-run variation is {:.1f} %", 100 * std::expm1(spread));
  if (moved) text = moved->text + ", and " + text;
  return text + "; use --base to detect smaller effects";
}

}  // namespace

void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence, Judgement& judgement) {
  const GatePolicy& policy = evidence.policy;
  const Bounds bounds = differences_of(entry);
  const HodgesLehmann located(bounds.pooled);
  const double effect = located.estimate().value_or(0);
  const auto [low, high] = located.bounds(policy.bound_error);
  const double spread = spread_of(*entry.stored, policy);
  const double delta = std::log1p(evidence.settings.delta);
  // A change of machine speed can look like an effect or hide one.
  const double drift = evidence.moved ? evidence.moved->log : 0;
  const double margin = delta + spread + drift;
  judgement.course = Judgement::Course::measured_again;
  judgement.against = Reference::store;
  judgement.base = time_from_log(entry.stored->center);
  judgement.candidate = time_from_log(entry.stored->center + effect);
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
          100 * std::expm1(*cycles), static_cast<double>(*entry.stored->clock_hz) / 1e9,
          static_cast<double>(*entry.clock_hz) / 1e9);
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
