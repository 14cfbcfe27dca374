// SPDX-License-Identifier: Apache-2.0
// Compares runs of a case at equal speed of the machine. A machine that is shared with others has
// many speeds, and none of them holds everywhere. A canary is fixed work beside a sample, so the
// samples of two runs with equally long canaries were taken at the same speed, and only they are
// compared. docs/decisions/0035 has the study behind the constants. Pure functions.
//
// The model: the logarithm of a sample's time is the level of its run plus a function of the speed,
// which is the same for all runs of the case. EqualSpeedFit fits both to the runs at once.
#pragma once

#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ratio>
#include <span>
#include <vector>

namespace bench {

// The samples of one process, with the time of their canaries, in the same order.
struct SpeedProcess {
  std::span<const Nanoseconds> samples;
  std::span<const Nanoseconds> canaries;   // 0: unknown; the sample does not count
  std::int64_t iterations_per_sample = 1;  // at least 1
  std::optional<Nanoseconds> join;  // time to start and join the threads; nullopt for one thread
};

// The samples of a run that were taken at one speed: their canaries differ by at most 2 %, and
// their threads were equally far apart.
struct SpeedCell {
  std::optional<Nanoseconds> join;  // median of the processes' join times
  Nanoseconds canary{0};            // lower median of the samples' canaries
  std::int64_t samples = 0;
  Picoseconds time{0};  // median time of an iteration
  friend bool operator==(const SpeedCell&, const SpeedCell&) = default;
};

// What a later comparison needs of a run of one case.
struct TimesBySpeed {
  std::vector<SpeedCell> cells;  // by join time, then by canary; never empty
  std::int64_t processes = 0;
  // Standard deviation of the samples within a cell, and of the processes' levels, as fractions of
  // the time.
  double scatter = 0;
  double process_scatter = 0;
  friend bool operator==(const TimesBySpeed&, const TimesBySpeed&) = default;
};
// Maximum number of cells that a run keeps, those with the most samples: 25 bytes of JSON each.
inline constexpr std::size_t kMaxSpeedCells = 32;
// Returns whether values of an untrusted file can be fitted.
bool is_valid(const TimesBySpeed& times);

// Groups the samples of a run by speed. Returns nullopt if no sample has a canary and a time.
std::optional<TimesBySpeed> group_by_speed(std::span<const SpeedProcess> processes);

// Returns the class of canaries that count as equally long: their logarithms differ by at most
// 0.02.
std::int64_t speed_stratum(Nanoseconds canary);
// Returns the shortest canary of a stratum, as a logarithm of nanoseconds.
double stratum_begin(std::int64_t stratum);

// Returns the samples with the most frequent speed of a process.
std::vector<Nanoseconds> samples_at_usual_speed(const SpeedProcess& process);

// A class of distances between the threads: a range of logarithms of join times.
struct SpeedPlace {
  double first = 0, last = 0;
};

// Coverage of the intervals between runs, as calibrated (docs/decisions/0035).
inline constexpr double kEqualSpeedCoverage = 0.95;
// Two runs whose times differ by this factor are not equal, even if each has one process: equal
// runs of all records differ by 2.11 at most, with or without canaries (docs/decisions/0041).
inline constexpr double kEvidentRatio = 2.5;
inline bool is_evident_ratio(double ratio) {
  return ratio >= kEvidentRatio || 1 / ratio >= kEvidentRatio;
}

// A logarithm of a time or of a ratio, with its standard deviation.
struct LogEstimate {
  double value = 0;
  double deviation = 0;
  // Half the width of the interval with the coverage kEqualSpeedCoverage.
  double half_width() const { return 2 * deviation; }
};

class EqualSpeedFit {
 public:
  // Fits the runs, which must not be empty. `at`: a canary at which time_at() is asked.
  explicit EqualSpeedFit(std::span<const TimesBySpeed> runs, std::optional<Nanoseconds> at = {});

  // Returns log(time of run `to` / time of run `from`) at equal speed. The deviation includes by
  // how much two runs of one program differ. It is large if the runs have no speed in common.
  LogEstimate difference(std::size_t from, std::size_t to) const;
  // Returns whether both runs have enough samples at the same speeds, directly or by way of other
  // runs.
  bool share_speed(std::size_t from, std::size_t to) const;
  // Returns the canary at the most frequent speed of all runs.
  Nanoseconds usual_canary() const;
  // Returns the level of each run, as logarithms of nanoseconds per iteration at the most frequent
  // speed of all runs.
  std::vector<double> levels() const;
  // Returns log(nanoseconds per iteration) of the run at the canary `at` of the constructor, with
  // the threads as near as they often were in this run.
  LogEstimate time_at(std::size_t run) const;
  // Returns how much shorter or longer a sample of the run would have been at the canary `at`: the
  // logarithm to add to its time. nullopt if the run has no such cell.
  std::optional<double> correction(std::size_t run, Nanoseconds canary,
                                   std::optional<Nanoseconds> join) const;
  // Returns for each run whether its threads were, at least at times, as far apart as those of
  // `run`, directly or by way of other runs. Other runs can be compared only roughly.
  std::vector<bool> runs_beside(std::size_t run) const;
  // The same without a fit, for a caller that fits only these runs. `runs` must not be empty.
  static std::vector<bool> find_runs_beside(std::span<const TimesBySpeed> runs, std::size_t run);
  // Returns all runs as one, at the mean of the levels of `runs`, which must not be empty.
  TimesBySpeed merge(std::span<const std::size_t> runs) const;

 private:
  EqualSpeedFit() = default;  // without a fit

  struct Speed {
    std::size_t place = 0;  // index into places_
    std::int64_t stratum = 0;
    auto operator<=>(const Speed&) const = default;
  };
  struct Observation {
    std::size_t run, speed;  // indices into runs_ and speeds_
    double samples, log_time;
    double weight = 0;
  };

  std::size_t place_of(std::optional<Nanoseconds> join) const;
  std::size_t find_speed(Speed speed) const;  // speeds_.size() if there is none
  std::size_t usual_speed() const;
  void find_usual_places();
  void observe();
  void add_prior(std::vector<double>& matrix, std::vector<double>& right) const;
  void solve();
  void reweight(double limit);
  // Returns the variance of `run_factors` * levels + `speed_factors` * speeds.
  double variance(const std::vector<double>& run_factors, std::vector<double> speed_factors) const;

  std::span<const TimesBySpeed> runs_;
  std::vector<SpeedPlace> places_;  // nearest threads first
  std::vector<Speed> speeds_;       // ascending
  std::vector<Observation> observations_;
  std::optional<std::int64_t> at_;  // stratum
  double scatter_ = 0;              // standard deviation per sample
  double centre_ = 0;               // log time that was subtracted from all observations
  std::vector<double> run_levels_, speed_effects_;
  std::vector<std::size_t> usual_places_;  // nearest usual place by run
  std::vector<double> run_weights_;        // sum of the weights of a run's observations
  std::vector<double> shared_;             // weights by run and speed
  std::vector<double> factor_;             // Cholesky factor of the reduced system of the speeds
};

// Returns EqualSpeedFit::difference() of two runs.
LogEstimate difference_at_equal_speed(const TimesBySpeed& from, const TimesBySpeed& to);

// Times from their logarithms.

// Returns the time with this logarithm of nanoseconds, rounded to a unit of `Duration`. A time that
// `Duration` cannot represent becomes one near its maximum.
template <class Duration>
Duration time_from_log(double log_nanoseconds) {
  using UnitsPerNanosecond = std::ratio_divide<std::nano, typename Duration::period>;
  static_assert(UnitsPerNanosecond::den == 1);
  constexpr double kMaxUnits = 9e18;  // below 2^63
  const double units = std::exp(log_nanoseconds) * static_cast<double>(UnitsPerNanosecond::num);
  return Duration(std::llround(std::min(units, kMaxUnits)));
}

}  // namespace bench
