// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/tuning.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::size_t kRounds = 5;
constexpr Nanoseconds kSampleTime = std::chrono::milliseconds(2);
constexpr std::int64_t kMaxIterations = 200;
// A sample that a condition of the device spoils is taken again, up to this number of tries.
constexpr int kMaxTries = 5;
// A candidate wins only if it needs less than this share of the default's cycles in every round.
constexpr double kWinningShare = 0.98;
// A candidate whose first execution takes this many times as long as the fastest one is not
// measured further. The first execution is single, so its time is too high by a constant.
constexpr double kHopelessFactor = 4;

struct Trial {
  std::int64_t iterations = 1;
  bool is_measured = false;           // takes part in the rounds
  std::vector<double> times, cycles;  // ns and cycles of one execution in each round
  bool has_cycles = true;
  std::optional<Error> error;  // why it takes no further part
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Nanoseconds to_nanoseconds(double value) {
  return Nanoseconds(static_cast<std::int64_t>(std::llround(value)));
}

// Whatever spoils a sample makes it longer, so the shortest of several spoiled ones is the best
// one.
Result<DeviceSample> take_sample(const TuningCandidate& candidate, std::int64_t iterations) {
  std::optional<DeviceSample> shortest;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    auto sample = candidate.sample(iterations);
    if (!sample || sample->verdict != SampleVerdict::voided) return sample;
    if (!shortest || sample->device < shortest->device) shortest = *std::move(sample);
  }
  return *std::move(shortest);
}

void add_sample(const TuningCandidate& candidate, Trial& trial) {
  const auto sample = take_sample(candidate, trial.iterations);
  if (!sample) {
    trial.error = sample.error();
    trial.is_measured = false;
    return;
  }
  const double time =
      static_cast<double>(sample->device.count()) / static_cast<double>(trial.iterations);
  trial.times.push_back(time);
  if (!sample->clock_hz) trial.has_cycles = false;
  constexpr double kNanosecondsPerSecond = 1e9;
  trial.cycles.push_back(time * static_cast<double>(sample->clock_hz.value_or(0)) /
                         kNanosecondsPerSecond);
}

// A candidate with the trial that its samples go to.
struct Contestant {
  const TuningCandidate* candidate;
  Trial* trial;
};

// Takes one sample of each per round. In a fixed order, what disturbs the machine at regular
// intervals could always meet the same candidate.
void measure_rounds(std::vector<Contestant> contestants) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (const Contestant& contestant : contestants) {
      if (contestant.trial->is_measured) add_sample(*contestant.candidate, *contestant.trial);
    }
    std::ranges::reverse(contestants);
  }
}

// Whether the candidate beats the default in every round, and by its median time. Compares times
// if the clock of a round is unknown. A kernel that needs fewer cycles may draw more power, and
// then runs at a lower clock: on an H100 one with 6 % fewer cycles took 1 % more time.
bool beats(const Trial& trial, const Trial& standard) {
  if (median(trial.times) >= kWinningShare * median(standard.times)) return false;
  const bool has_cycles = trial.has_cycles && standard.has_cycles;
  const auto& scores = has_cycles ? trial.cycles : trial.times;
  const auto& standards = has_cycles ? standard.cycles : standard.times;
  for (std::size_t round = 0; round < kRounds; ++round) {
    if (scores[round] >= kWinningShare * standards[round]) return false;
  }
  return true;
}

// Returns the ratio of the candidate to the default. Ratios to the default of the same rounds are
// comparable between candidates.
double ratio_of(const Trial& trial, const Trial& standard) {
  const bool has_cycles = trial.has_cycles && standard.has_cycles;
  return has_cycles ? median(trial.cycles) / median(standard.cycles)
                    : median(trial.times) / median(standard.times);
}

// Returns a trial for further rounds.
Trial begin_again(const Trial& trial) {
  Trial further;
  further.iterations = trial.iterations;
  further.is_measured = true;
  return further;
}

// Measures candidates in rounds.
class Tournament {
 public:
  explicit Tournament(std::span<const TuningCandidate> candidates)
      : candidates_(candidates), trials_(candidates.size()) {
    for (const TuningCandidate& candidate : candidates)
      choice_.candidates.push_back({candidate.name, std::nullopt, ""});
  }

  Result<TunedChoice> run() && {
    estimate();
    std::vector<Contestant> all;
    for (std::size_t i = 0; i < trials_.size(); ++i) all.push_back({&candidates_[i], &trials_[i]});
    measure_rounds(std::move(all));
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      if (trials_[i].error) fail(i, *trials_[i].error);
    }
    return choose();
  }

 private:
  void fail(std::size_t index, const Error& error) {
    if (!first_error_) first_error_ = error;
    choice_.candidates[index].failure = error.message();
    choice_.candidates[index].time.reset();
  }

  void exclude(std::size_t index, const Error& error) {
    fail(index, error);
    trials_[index].is_measured = false;
  }

  // Executes each candidate once and derives the iterations of its samples.
  void estimate() {
    std::optional<std::int64_t> fastest;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const auto sample = take_sample(candidates_[i], 1);
      if (!sample) {
        fail(i, sample.error());
        continue;
      }
      const std::int64_t single = std::max<std::int64_t>(sample->device.count(), 1);
      trials_[i].iterations =
          std::clamp<std::int64_t>(kSampleTime.count() / single, 1, kMaxIterations);
      choice_.candidates[i].time = Nanoseconds(single);
      fastest = std::min(fastest.value_or(single), single);
    }
    bool is_default = true;  // measured even if it is slow, because the others compete with it
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      const auto& time = choice_.candidates[i].time;
      if (!time) continue;
      trials_[i].is_measured = is_default || static_cast<double>(time->count()) <=
                                                 kHopelessFactor * static_cast<double>(*fastest);
      is_default = false;
    }
  }

  // Returns the candidates that beat the default, the best one first.
  std::vector<std::size_t> find_winners(const Trial& standard) const {
    std::vector<std::size_t> winners;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      if (trials_[i].is_measured && beats(trials_[i], standard)) winners.push_back(i);
    }
    std::ranges::stable_sort(winners, {},
                             [&](std::size_t index) { return ratio_of(trials_[index], standard); });
    return winners;
  }

  // Measures a winner and the default in further rounds. If it wins again, notes their times.
  bool is_confirmed(std::size_t winner) {
    const std::size_t by_default = choice_.default_index;
    Trial standard = begin_again(trials_[by_default]), again = begin_again(trials_[winner]);
    measure_rounds({{&candidates_[by_default], &standard}, {&candidates_[winner], &again}});
    // What fails here is no longer a candidate: choose() begins again without it.
    if (standard.error) exclude(by_default, *standard.error);
    if (again.error) exclude(winner, *again.error);
    if (standard.error || again.error || !beats(again, standard)) return false;
    choice_.candidates[by_default].time = to_nanoseconds(median(standard.times));
    choice_.candidates[winner].time = to_nanoseconds(median(again.times));
    return true;
  }

  Result<TunedChoice> choose() {
    const auto standard = std::ranges::find_if(trials_, &Trial::is_measured);
    if (standard == trials_.end())
      return first_error_.value_or(Error{"there is nothing to choose from", "", ""});
    choice_.default_index = static_cast<std::size_t>(standard - trials_.begin());
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      if (trials_[i].is_measured)
        choice_.candidates[i].time = to_nanoseconds(median(trials_[i].times));
    }
    const std::vector<std::size_t> winners = find_winners(*standard);
    const auto winner = std::ranges::find_if(
        winners, [&](std::size_t index) { return standard->is_measured && is_confirmed(index); });
    if (!standard->is_measured)
      return choose();  // the default failed; the next one takes its place
    choice_.best = winner == winners.end() ? choice_.default_index : *winner;
    return std::move(choice_);
  }

  std::span<const TuningCandidate> candidates_;
  std::vector<Trial> trials_;
  TunedChoice choice_;
  std::optional<Error> first_error_;
};

}  // namespace

std::string TunedChoice::text() const {
  if (!reason.empty()) return fmt::format("{}{}", kNotTuned, reason);
  if (!fixed.empty()) return fmt::format("{}{}", kChosenBefore, fixed);
  const auto time_of = [&](std::size_t index) {
    return format_time(candidates[index].time.value_or(Nanoseconds(0)));
  };
  const std::string place = fmt::format("{} of {}", best + 1, candidates.size());
  if (best == default_index) return fmt::format("default {}, kept: {}", time_of(best), place);
  return fmt::format("default {}, chosen {}: {}", time_of(default_index), time_of(best), place);
}

std::string TunedChoice::candidates_text() const {
  std::string text;
  for (const MeasuredCandidate& candidate : candidates) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : "; ", candidate.name,
                    candidate.time ? format_time(*candidate.time) : "failed: " + candidate.failure);
  }
  return text;
}

std::optional<Regret> TunedChoice::regret() const {
  if (candidates.empty()) return std::nullopt;
  const MeasuredCandidate& chosen = candidates[default_index];
  const MeasuredCandidate& fastest = candidates[best];
  return Regret{chosen.name, chosen.time.value_or(Nanoseconds(0)), fastest.name,
                fastest.time.value_or(Nanoseconds(0)), candidates};
}

void TunedChoice::add_to(std::map<std::string, std::string>& details) const {
  details["tuned"] = text();
  if (std::string all = candidates_text(); !all.empty()) details["tuned_candidates"] = all;
  if (!caches.empty()) details["tuned_caches"] = caches;
  if (const auto cost = regret()) add_details(*cost, details);
}

Result<TunedChoice> choose_fastest(std::span<const TuningCandidate> candidates) {
  return Tournament(candidates).run();
}

}  // namespace bench::ops
