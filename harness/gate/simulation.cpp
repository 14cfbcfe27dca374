// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/simulation.hpp"

#include "base/mix.hpp"
#include "harness/judge/decide.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bench {
namespace {

// Long enough that rounding to nanoseconds is negligible compared with the smallest effect.
constexpr double kSampleNanoseconds = 1e9;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ += kMixStep;
    return static_cast<std::size_t>((static_cast<unsigned __int128>(mix(state_)) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// Returns `count` consecutive values from a random position on; the record wraps around.
std::vector<double> consecutive(const std::vector<double>& values, std::size_t count, Draw& draw) {
  std::vector<double> result;
  const std::size_t begin = draw.below(values.size());
  for (std::size_t i = 0; i < count; ++i) result.push_back(values[(begin + i) % values.size()]);
  return result;
}

class Suite {
 public:
  Suite(std::span<const RecordedDuets> kernels, const SimulationOptions& options, Draw& draw)
      : kernels_(kernels), options_(options), draw_(draw) {
    evidence_.mode = GateEvidence::Mode::paired;
    evidence_.policy = options.policy;
    evidence_.settings = options.settings;
    for (int i = 0; i < options.cases; ++i) add_case(i < options.slower ? options.slowdown : 0);
  }

  void run(SimulationResult& result) {
    Decision decision = decide(evidence_);
    for (bool any = true; any;) {
      any = false;
      for (const Wanted& wanted : decision.wanted) {
        if (!is_within_budget(wanted)) continue;
        play(wanted);
        any = true;
      }
      if (any) decision = decide(evidence_);
    }
    count(decision, result);
  }

 private:
  bool is_within_budget(const Wanted& wanted) const {
    if (!options_.max_duets) return true;
    const auto done = static_cast<int>(evidence_.cases[wanted.index].duets.size());
    return wanted.kind == Wanted::Kind::duets && done + wanted.count <= *options_.max_duets;
  }

  void add_case(double slowdown) {
    const RecordedDuets& kernel = kernels_[draw_.below(kernels_.size())];
    effects_.push_back(std::log1p(slowdown));
    chosen_.push_back(&kernel);
    CaseEvidence& entry = evidence_.cases.emplace_back();
    entry.id = kernel.name;
    entry.q25 = {kernel.base_q25[draw_.below(kernel.base_q25.size())] * (1 + slowdown)};
  }

  void play(const Wanted& wanted) {
    CaseEvidence& entry = evidence_.cases[wanted.index];
    const auto ratios = consecutive(chosen_[wanted.index]->log_ratios,
                                    static_cast<std::size_t>(wanted.count), draw_);
    for (const double ratio : ratios) {
      Duet duet;
      duet.stage = wanted.kind == Wanted::Kind::confirmation ? Duet::Stage::confirmation
                                                             : Duet::Stage::first;
      const bool is_mirrored =
          options_.drawing == SimulationOptions::Drawing::mirrored && draw_.below(2) == 1;
      const double drawn = is_mirrored ? -ratio : ratio;
      duet.base = {Nanoseconds(std::llround(kSampleNanoseconds))};
      duet.candidate = {
          Nanoseconds(std::llround(kSampleNanoseconds * std::exp(drawn + effects_[wanted.index])))};
      entry.duets.push_back(std::move(duet));
    }
  }

  void count(const Decision& decision, SimulationResult& result) const {
    bool red = false;
    std::size_t processes = 0;
    for (std::size_t i = 0; i < evidence_.cases.size(); ++i) {
      const Verdict verdict = decision.judgements[i].verdict;
      const bool regression = verdict == Verdict::regression;
      const bool slow = effects_[i] > 0;
      (slow ? result.slow : result.clean) += 1;
      if (regression) (slow ? result.found : result.alarms) += 1;
      red = red || (regression && !slow);
      result.inconclusive += verdict == Verdict::inconclusive ? 1 : 0;
      processes += evidence_.cases[i].q25.size() + 2 * evidence_.cases[i].duets.size();
    }
    ++result.suites;
    result.red += red ? 1 : 0;
    result.processes_per_case +=
        static_cast<double>(processes) / static_cast<double>(evidence_.cases.size());
  }

  std::span<const RecordedDuets> kernels_;
  const SimulationOptions& options_;
  Draw& draw_;
  GateEvidence evidence_;
  std::vector<double> effects_;  // logarithms
  std::vector<const RecordedDuets*> chosen_;
};

}  // namespace

SimulationResult simulate(std::span<const RecordedDuets> kernels,
                          const SimulationOptions& options) {
  assert(!kernels.empty());
  Draw draw(options.seed);
  SimulationResult result;
  for (int i = 0; i < options.suites; ++i) Suite(kernels, options, draw).run(result);
  if (result.suites > 0) result.processes_per_case /= result.suites;
  return result;
}

}  // namespace bench
