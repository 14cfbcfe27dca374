// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/equal_speed.hpp"

#include "harness/stats/steady_canaries.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace bench {
namespace {

// Canaries whose logarithms differ by less than this count as equal. Widths from 1 to 4 % give the
// same results.
constexpr double kStratum = 0.02;
// The threads of two processes are equally far apart if there is no gap of more than this factor
// between all join times that lie between theirs. Equal processes differ by up to 30 %, near and
// far processors by a factor of 2.
constexpr double kPlaceGap = 1.3;

// What is known before any measurement: by which power of the canary a time grows, and how far the
// function may depart from it per stratum and between two places. It matters only where runs have
// no speed in common.
constexpr double kPriorSlope = 0.6;
constexpr double kStepDeviation = 0.03;
constexpr double kPlaceDeviation = 0.3;
// Runs with fewer samples at common speeds have none in common. The machine may then have been in
// another state, such as both threads on one core, which changes a time as much as another place.
constexpr double kMinSharedSamples = 5;
// Weight of a sample by its canary: samples at twice the canary count 2^-6 as much. What disturbs
// the canary disturbs a sample in more ways than the canary shows.
constexpr double kDisturbancePower = 6;
// Deviation of a cell's median that more samples do not reduce.
constexpr double kCellDeviation = 0.003;
constexpr double kMinScatter = 0.002;
constexpr double kUnknownScatter = 0.05;
// Residuals above this many scatters, and above kMinLimit, have less weight (Huber).
constexpr double kRobustLimit = 0.5;
constexpr double kMinLimit = 0.004;
constexpr int kRobustSteps = 6;

// Parts of a run's deviation beyond the fit, calibrated on all records of equal runs
// (docs/decisions/0035): what the scatter of its samples and of its processes leaves unexplained,
// and by how much runs differ at least.
constexpr double kFitFactor = 0.8;
constexpr double kScatterFactor = 0.38;
constexpr double kProcessFactor = 2;
constexpr double kRunDeviation = 0.002;

// A process whose level differs most from the others does not count, one of each five.
constexpr std::size_t kProcessesPerOutlier = 5;
// Processes are compared with this many of those after them, which bounds the time for hostile
// files: with all others of a run of five.
constexpr std::size_t kComparedProcesses = 16;
// One process of five is in 4 of the 10 pairs. It does not count, and so neither do the pairs that
// differ most.
constexpr double kKeptPairs = 0.6;
// The scatter of processes per root mean square of the kept pairs, calibrated on all records of
// equal runs with join times (docs/decisions/0059).
constexpr double kPairFactor = 0.6;
// Corrects the standard deviation for the missing largest value of five.
constexpr double kTrimmedFactor = 1.35;
constexpr double kNormalDeviations = 1.4826;  // standard deviation / median absolute deviation
constexpr std::size_t kMinCellForScatter = 3;
// A place is usual in a run if at least this fraction of its samples were taken there.
constexpr double kUsualFraction = 0.3;
// Neither a speed nor a distance of the threads changes a time by this factor beyond the usual
// slope. A process whose threads shared a processor took 15 times as long as the others.
constexpr double kMaxSpeedEffect = 4;
// The fit keeps at most this many speeds, which bounds its time for hostile files.
constexpr std::size_t kMaxSpeeds = 600;

double log_of(Nanoseconds time) { return std::log(static_cast<double>(time.count())); }
double log_of(Picoseconds time) { return std::log(static_cast<double>(time.count()) / 1000); }

// A cell's time is never 0.
Picoseconds cell_time(double log_nanoseconds) {
  return std::max(Picoseconds(1), time_from_log<Picoseconds>(log_nanoseconds));
}

Nanoseconds lower_median(std::vector<Nanoseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Returns the places: groups of logarithms of join times without a gap, ascending.
std::vector<SpeedPlace> find_places(std::vector<double> log_joins) {
  std::ranges::sort(log_joins);
  std::vector<SpeedPlace> places;
  for (const double join : log_joins) {
    if (places.empty() || join - places.back().last > std::log(kPlaceGap))
      places.push_back({join, join});
    places.back().last = join;
  }
  return places;
}
// Returns the index of the place that is nearest to the join time; 0 if the time is unknown.
std::size_t find_place(const std::vector<SpeedPlace>& places, std::optional<Nanoseconds> join) {
  if (!join || join->count() <= 0 || places.empty()) return 0;
  const double log_join = log_of(*join);
  const auto distance = [&](const SpeedPlace& place) {
    return std::max({place.first - log_join, log_join - place.last, 0.0});
  };
  return static_cast<std::size_t>(std::ranges::min_element(places, {}, distance) - places.begin());
}

struct Sample {
  std::size_t process;
  Nanoseconds canary;
  double log_time;
};
using Cells = std::map<std::pair<std::size_t, std::int64_t>, std::vector<Sample>>;

Cells sort_into_cells(std::span<const SpeedProcess> processes,
                      const std::vector<SpeedPlace>& places) {
  Cells cells;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const SpeedProcess& process = processes[p];
    const double log_iterations = std::log(static_cast<double>(process.iterations_per_sample));
    const std::vector<Nanoseconds> canaries = steady_canaries(process.canaries);
    const std::size_t count = std::min(process.samples.size(), canaries.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Nanoseconds canary = canaries[i];
      if (canary.count() <= 0 || process.samples[i].count() <= 0) continue;
      cells[{find_place(places, process.join), speed_stratum(canary)}].push_back(
          {p, canary, log_of(process.samples[i]) - log_iterations});
    }
  }
  return cells;
}

double median_log_time(const std::vector<Sample>& samples) {
  std::vector<double> times;
  for (const Sample& sample : samples) times.push_back(sample.log_time);
  return *median(times);
}

// The deviations of samples from the medians of their cells.
struct Residuals {
  std::vector<double> sizes;  // absolute values, from cells with enough samples
  std::map<std::size_t, std::vector<double>> by_process;
};

double scatter_of(const Residuals& residuals) {
  const auto middle = median(residuals.sizes);
  return middle ? kNormalDeviations * *middle : kUnknownScatter;
}

// Returns the standard deviation of the processes' deviations from the medians of the run. It is
// too small for processes that were alone at their speeds, since these medians are their own.
double deviation_from_cells(const Residuals& residuals) {
  std::vector<double> sizes;
  for (const auto& [process, values] : residuals.by_process)
    sizes.push_back(std::abs(*median(values)));
  std::ranges::sort(sizes);
  sizes.resize(sizes.size() - sizes.size() / kProcessesPerOutlier);
  const double squares = std::inner_product(sizes.begin(), sizes.end(), sizes.begin(), 0.0);
  return kTrimmedFactor * std::sqrt(squares / static_cast<double>(sizes.size()));
}

// Two processes at the same speeds.
struct ProcessPair {
  double samples = 0;     // the lesser number of both, over all speeds
  double difference = 0;  // sum over these samples
};

std::vector<double> differences_of_processes(const Cells& cells) {
  std::map<std::pair<std::size_t, std::size_t>, ProcessPair> pairs;
  for (const auto& [speed, samples] : cells) {
    std::map<std::size_t, std::vector<double>> times;
    for (const Sample& sample : samples) times[sample.process].push_back(sample.log_time);
    std::vector<std::tuple<std::size_t, double, double>> processes;  // index, samples, median time
    for (const auto& [process, values] : times)
      processes.emplace_back(process, static_cast<double>(values.size()), *median(values));
    for (std::size_t a = 0; a < processes.size(); ++a) {
      const std::size_t end = std::min(processes.size(), a + 1 + kComparedProcesses);
      for (std::size_t b = a + 1; b < end; ++b) {
        const auto& [first, first_samples, first_time] = processes[a];
        const auto& [second, second_samples, second_time] = processes[b];
        const double common = std::min(first_samples, second_samples);
        ProcessPair& pair = pairs[{first, second}];
        pair.samples += common;
        pair.difference += common * (second_time - first_time);
      }
    }
  }
  std::vector<double> differences;
  for (const auto& [processes, pair] : pairs) {
    if (pair.samples >= static_cast<double>(kMinCellForScatter))
      differences.push_back(std::abs(pair.difference / pair.samples));
  }
  return differences;
}

// Returns the scatter of the processes of a run from the pairs that were at the same speed.
double deviation_of_pairs(const Cells& cells) {
  std::vector<double> sizes = differences_of_processes(cells);
  if (sizes.empty()) return kUnknownScatter;
  std::ranges::sort(sizes);
  sizes.resize(static_cast<std::size_t>(std::ceil(kKeptPairs * static_cast<double>(sizes.size()))));
  const double squares = std::inner_product(sizes.begin(), sizes.end(), sizes.begin(), 0.0);
  return kPairFactor * std::sqrt(squares / static_cast<double>(sizes.size()));
}

double process_scatter_of(const Residuals& residuals, const Cells& cells) {
  const double deviation = deviation_from_cells(residuals);
  return residuals.by_process.size() < 2 ? deviation
                                         : std::max(deviation, deviation_of_pairs(cells));
}

SpeedCell make_cell(const std::vector<Sample>& samples, std::span<const SpeedProcess> processes,
                    double log_time) {
  SpeedCell cell;
  std::vector<Nanoseconds> canaries, joins;
  for (const Sample& sample : samples) {
    canaries.push_back(sample.canary);
    if (const auto& join = processes[sample.process].join) joins.push_back(*join);
  }
  if (!joins.empty()) cell.join = lower_median(std::move(joins));
  cell.canary = lower_median(std::move(canaries));
  cell.samples = std::ssize(samples);
  cell.time = cell_time(log_time);
  return cell;
}

void keep_largest_cells(std::vector<SpeedCell>& cells) {
  if (cells.size() <= kMaxSpeedCells) return;
  std::ranges::stable_sort(cells, std::greater<>(), &SpeedCell::samples);
  cells.resize(kMaxSpeedCells);
  std::ranges::sort(cells, {},
                    [](const SpeedCell& cell) { return std::pair(cell.join, cell.canary); });
}

// Replaces the lower triangle of a symmetric, positive definite matrix by its Cholesky factor.
void factorise(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * size + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * size + k] * matrix[j * size + k];
      matrix[i * size + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[j * size + j];
    }
  }
}
// Solves L x = b in place.
void solve_lower(const std::vector<double>& factor, std::vector<double>& vector) {
  const std::size_t size = vector.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) vector[i] -= factor[i * size + k] * vector[k];
    vector[i] /= factor[i * size + i];
  }
}
// Solves L^T x = b in place.
void solve_upper(const std::vector<double>& factor, std::vector<double>& vector) {
  const std::size_t size = vector.size();
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) vector[i] -= factor[k * size + i] * vector[k];
    vector[i] /= factor[i * size + i];
  }
}

// Returns the variance by which the levels of equal runs differ beyond the fit.
double run_variance(const TimesBySpeed& run) {
  const double processes = std::max<double>(1, static_cast<double>(run.processes));
  const double process_part = kProcessFactor * run.process_scatter;
  const double sample_part = kScatterFactor * run.scatter;
  return process_part * process_part / processes + sample_part * sample_part +
         kRunDeviation * kRunDeviation;
}

// Returns the cells of a run whose times are near the others, at the canary of each.
std::vector<SpeedCell> find_usual_cells(const TimesBySpeed& run) {
  const auto level = [](const SpeedCell& cell) {
    return log_of(cell.time) - kPriorSlope * log_of(cell.canary);
  };
  std::vector<SpeedCell> cells = run.cells;
  std::ranges::sort(cells, {}, level);
  double all = 0, below = 0;
  for (const SpeedCell& cell : cells) all += static_cast<double>(cell.samples);
  const auto middle = std::ranges::find_if(cells, [&](const SpeedCell& cell) {
    below += static_cast<double>(cell.samples);
    return 2 * below >= all;
  });
  const double usual = level(*middle);
  std::erase_if(cells, [&](const SpeedCell& cell) {
    return std::abs(level(cell) - usual) > std::log(kMaxSpeedEffect);
  });
  return cells;
}

}  // namespace

std::optional<TimesBySpeed> group_by_speed(std::span<const SpeedProcess> processes) {
  std::vector<double> log_joins;
  for (const SpeedProcess& process : processes) {
    if (process.join && process.join->count() > 0) log_joins.push_back(log_of(*process.join));
  }
  const Cells cells = sort_into_cells(processes, find_places(std::move(log_joins)));
  if (cells.empty()) return std::nullopt;
  TimesBySpeed times;
  Residuals residuals;
  for (const auto& [speed, samples] : cells) {
    const double middle = median_log_time(samples);
    times.cells.push_back(make_cell(samples, processes, middle));
    for (const Sample& sample : samples) {
      const double residual = sample.log_time - middle;
      residuals.by_process[sample.process].push_back(residual);
      if (samples.size() >= kMinCellForScatter) residuals.sizes.push_back(std::abs(residual));
    }
  }
  times.processes = std::ssize(residuals.by_process);
  times.scatter = scatter_of(residuals);
  times.process_scatter = process_scatter_of(residuals, cells);
  keep_largest_cells(times.cells);
  return times;
}

std::int64_t speed_stratum(Nanoseconds canary) {
  return static_cast<std::int64_t>(std::floor(log_of(canary) / kStratum));
}
double stratum_begin(std::int64_t stratum) { return static_cast<double>(stratum) * kStratum; }

bool is_valid(const TimesBySpeed& times) {
  const auto is_valid_cell = [](const SpeedCell& cell) {
    return cell.canary > Nanoseconds(0) && cell.samples > 0 && cell.time > Picoseconds(0) &&
           (!cell.join || *cell.join > Nanoseconds(0));
  };
  constexpr double kMaxScatter = 1e6;
  const auto is_valid_scatter = [](double scatter) {
    return scatter >= 0 && scatter <= kMaxScatter;
  };
  return !times.cells.empty() && times.cells.size() <= kMaxSpeedCells && times.processes > 0 &&
         is_valid_scatter(times.scatter) && is_valid_scatter(times.process_scatter) &&
         std::ranges::all_of(times.cells, is_valid_cell);
}

std::vector<Nanoseconds> samples_at_usual_speed(const SpeedProcess& process) {
  std::map<std::int64_t, std::vector<Nanoseconds>> by_stratum;
  const std::size_t count = std::min(process.samples.size(), process.canaries.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (process.canaries[i].count() > 0)
      by_stratum[speed_stratum(process.canaries[i])].push_back(process.samples[i]);
  }
  if (by_stratum.empty()) return {};
  return std::ranges::max_element(by_stratum, {},
                                  [](const auto& entry) { return entry.second.size(); })
      ->second;
}

EqualSpeedFit::EqualSpeedFit(std::span<const TimesBySpeed> runs, std::optional<Nanoseconds> at)
    : runs_(runs) {
  if (at && at->count() > 0) at_ = speed_stratum(*at);
  observe();
  find_usual_places();
  double squares = 0;
  for (const TimesBySpeed& run : runs_) squares += run.scatter * run.scatter;
  scatter_ = std::max(kMinScatter, std::sqrt(squares / static_cast<double>(runs_.size())));
  for (Observation& entry : observations_) {
    const double above =
        static_cast<double>(speeds_[entry.speed].stratum - speeds_.front().stratum) * kStratum;
    entry.weight = std::exp(-kDisturbancePower * std::max(0.0, above)) /
                   (scatter_ * scatter_ / entry.samples + kCellDeviation * kCellDeviation);
  }
  const double limit = std::max(kMinLimit, kRobustLimit * scatter_);
  const std::vector<Observation> unweighted = observations_;
  solve();
  for (int step = 0; step < kRobustSteps; ++step) {
    for (std::size_t i = 0; i < observations_.size(); ++i)
      observations_[i].weight = unweighted[i].weight;
    reweight(limit);
    solve();
  }
}

std::size_t EqualSpeedFit::place_of(std::optional<Nanoseconds> join) const {
  return find_place(places_, join);
}

std::size_t EqualSpeedFit::find_speed(Speed speed) const {
  const auto found = std::ranges::lower_bound(speeds_, speed);
  return found != speeds_.end() && *found == speed
             ? static_cast<std::size_t>(found - speeds_.begin())
             : speeds_.size();
}

void EqualSpeedFit::observe() {
  std::vector<std::vector<SpeedCell>> cells;  // by run
  std::vector<double> log_joins, log_times;
  for (const TimesBySpeed& run : runs_) {
    for (const SpeedCell& cell : cells.emplace_back(find_usual_cells(run))) {
      if (cell.join && cell.join->count() > 0) log_joins.push_back(log_of(*cell.join));
    }
  }
  places_ = find_places(std::move(log_joins));
  std::map<Speed, double> samples;
  for (const std::vector<SpeedCell>& run : cells) {
    for (const SpeedCell& cell : run)
      samples[{place_of(cell.join), speed_stratum(cell.canary)}] +=
          static_cast<double>(cell.samples);
  }
  while (samples.size() > kMaxSpeeds) {
    samples.erase(
        std::ranges::min_element(samples, {}, [](const auto& entry) { return entry.second; }));
  }
  std::set<std::size_t> places;
  for (const auto& [speed, count] : samples) places.insert(speed.place);
  if (at_) {
    for (const std::size_t place : places) samples.try_emplace({place, *at_}, 0);
  }
  for (const auto& [speed, count] : samples) speeds_.push_back(speed);
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (const SpeedCell& cell : cells[run]) {
      const std::size_t speed = find_speed({place_of(cell.join), speed_stratum(cell.canary)});
      if (speed == speeds_.size()) continue;
      observations_.push_back(
          {run, speed, static_cast<double>(cell.samples), log_of(cell.time), 0});
      log_times.push_back(observations_.back().log_time);
    }
  }
  centre_ = median(log_times).value_or(0);
  for (Observation& entry : observations_) entry.log_time -= centre_;
}

// Links neighbouring strata of a place, and the nearest strata of neighbouring places, by what is
// expected of their difference. Fixes one speed, since only sums of a run's level and a speed's
// effect are observed.
void EqualSpeedFit::add_prior(std::vector<double>& matrix, std::vector<double>& right) const {
  const std::size_t size = speeds_.size();
  const auto link = [&](std::size_t from, std::size_t to, double extra_deviation) {
    const auto strata = static_cast<double>(speeds_[to].stratum - speeds_[from].stratum);
    const double expected = kPriorSlope * strata * kStratum;
    const double variance =
        extra_deviation * extra_deviation + kStepDeviation * kStepDeviation * std::abs(strata);
    const double weight = 1 / variance;
    matrix[from * size + from] += weight;
    matrix[to * size + to] += weight;
    matrix[from * size + to] -= weight;
    matrix[to * size + from] -= weight;
    right[to] += weight * expected;
    right[from] -= weight * expected;
  };
  matrix[0] += 1;
  std::size_t place_begin = 0, previous_begin = 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (speeds_[i].place == speeds_[i - 1].place) {
      link(i - 1, i, 0);
      continue;
    }
    previous_begin = std::exchange(place_begin, i);
    std::size_t from = previous_begin, to = i;
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t a = previous_begin; a < i; ++a) {
      for (std::size_t b = i; b < size && speeds_[b].place == speeds_[i].place; ++b) {
        const std::int64_t distance = std::abs(speeds_[b].stratum - speeds_[a].stratum);
        if (distance >= nearest) continue;
        nearest = distance;
        from = a;
        to = b;
      }
    }
    link(from, to, kPlaceDeviation);
  }
}

// Solves the weighted least squares. The levels of the runs are eliminated first, since each
// observation belongs to one run.
void EqualSpeedFit::solve() {
  const std::size_t size = speeds_.size(), runs = runs_.size();
  std::vector<double> matrix(size * size, 0), right(size, 0), run_sums(runs, 0);
  add_prior(matrix, right);
  run_weights_.assign(runs, 0);
  shared_.assign(runs * size, 0);
  for (const Observation& entry : observations_) {
    run_weights_[entry.run] += entry.weight;
    run_sums[entry.run] += entry.weight * entry.log_time;
    shared_[entry.run * size + entry.speed] += entry.weight;
    matrix[entry.speed * size + entry.speed] += entry.weight;
    right[entry.speed] += entry.weight * entry.log_time;
  }
  for (std::size_t run = 0; run < runs; ++run) {
    if (run_weights_[run] <= 0) continue;
    const double* const weights = &shared_[run * size];
    for (std::size_t i = 0; i < size; ++i) {
      if (weights[i] == 0) continue;
      const double fraction = weights[i] / run_weights_[run];
      right[i] -= fraction * run_sums[run];
      for (std::size_t j = 0; j < size; ++j) matrix[i * size + j] -= fraction * weights[j];
    }
  }
  factorise(matrix, size);
  factor_ = std::move(matrix);
  solve_lower(factor_, right);
  solve_upper(factor_, right);
  speed_effects_ = std::move(right);
  run_levels_.assign(runs, 0);
  for (std::size_t run = 0; run < runs; ++run) {
    if (run_weights_[run] <= 0) continue;
    double sum = run_sums[run];
    for (std::size_t i = 0; i < size; ++i) sum -= shared_[run * size + i] * speed_effects_[i];
    run_levels_[run] = sum / run_weights_[run];
  }
}

void EqualSpeedFit::reweight(double limit) {
  for (Observation& entry : observations_) {
    const double residual =
        std::abs(entry.log_time - run_levels_[entry.run] - speed_effects_[entry.speed]);
    if (residual > limit) entry.weight *= limit / residual;
  }
}

double EqualSpeedFit::variance(const std::vector<double>& run_factors,
                               std::vector<double> speed_factors) const {
  double variance = 0;
  for (std::size_t run = 0; run < run_factors.size(); ++run) {
    if (run_factors[run] == 0 || run_weights_[run] <= 0) continue;
    variance += run_factors[run] * run_factors[run] / run_weights_[run];
    for (std::size_t i = 0; i < speed_factors.size(); ++i) {
      speed_factors[i] -=
          run_factors[run] * shared_[run * speed_factors.size() + i] / run_weights_[run];
    }
  }
  solve_lower(factor_, speed_factors);
  return variance +
         std::inner_product(speed_factors.begin(), speed_factors.end(), speed_factors.begin(), 0.0);
}

LogEstimate EqualSpeedFit::difference(std::size_t from, std::size_t to) const {
  std::vector<double> factors(runs_.size(), 0);
  factors[from] -= 1;
  factors[to] += 1;
  const double fit = variance(factors, std::vector<double>(speeds_.size(), 0));
  const double other_state = share_speed(from, to) ? 0 : kPlaceDeviation;
  return {run_levels_[to] - run_levels_[from],
          std::sqrt(kFitFactor * kFitFactor * fit + other_state * other_state +
                    run_variance(runs_[from]) + run_variance(runs_[to]))};
}

std::size_t EqualSpeedFit::usual_speed() const {
  std::vector<double> weights(speeds_.size(), 0);
  for (const Observation& entry : observations_) weights[entry.speed] += entry.weight;
  return static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
}

bool EqualSpeedFit::share_speed(std::size_t from, std::size_t to) const {
  std::vector<bool> is_reached(runs_.size(), false);
  std::vector<double> samples(speeds_.size(), 0);  // number in the reached runs, by speed
  const auto reach = [&](std::size_t run) {
    is_reached[run] = true;
    for (const Observation& entry : observations_) {
      if (entry.run == run) samples[entry.speed] += entry.samples;
    }
  };
  reach(from);
  for (bool has_grown = true; has_grown && !is_reached[to];) {
    has_grown = false;
    std::vector<double> shared(runs_.size(), 0);
    for (const Observation& entry : observations_)
      shared[entry.run] += std::min(samples[entry.speed], entry.samples);
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (is_reached[run] || shared[run] < kMinSharedSamples) continue;
      reach(run);
      has_grown = true;
    }
  }
  return is_reached[to];
}

Nanoseconds EqualSpeedFit::usual_canary() const {
  const double stratum = static_cast<double>(speeds_[usual_speed()].stratum) + 0.5;
  return time_from_log<Nanoseconds>(stratum * kStratum);
}

std::vector<double> EqualSpeedFit::levels() const {
  const double shift = centre_ + speed_effects_[usual_speed()];
  std::vector<double> levels = run_levels_;
  for (double& level : levels) level += shift;
  return levels;
}

void EqualSpeedFit::find_usual_places() {
  std::vector<std::map<std::size_t, double>> samples(runs_.size());  // by run and place
  for (const Observation& entry : observations_)
    samples[entry.run][speeds_[entry.speed].place] += entry.samples;
  for (const std::map<std::size_t, double>& places : samples) {
    double all = 0;
    for (const auto& [place, count] : places) all += count;
    const auto usual = std::ranges::find_if(
        places, [&](const auto& entry) { return entry.second >= kUsualFraction * all; });
    usual_places_.push_back(usual == places.end() ? 0 : usual->first);
  }
}

LogEstimate EqualSpeedFit::time_at(std::size_t run) const {
  const std::size_t speed = find_speed({usual_places_[run], *at_});
  std::vector<double> run_factors(runs_.size(), 0), speed_factors(speeds_.size(), 0);
  run_factors[run] = 1;
  speed_factors[speed] = 1;
  const double fit = variance(run_factors, std::move(speed_factors));
  return {centre_ + run_levels_[run] + speed_effects_[speed],
          std::sqrt(kFitFactor * kFitFactor * fit + run_variance(runs_[run]))};
}

std::optional<double> EqualSpeedFit::correction(std::size_t run, Nanoseconds canary,
                                                std::optional<Nanoseconds> join) const {
  if (canary.count() <= 0) return std::nullopt;
  const std::size_t from = find_speed({place_of(join), speed_stratum(canary)});
  const std::size_t to = find_speed({usual_places_[run], *at_});
  if (from == speeds_.size()) return std::nullopt;
  return speed_effects_[to] - speed_effects_[from];
}

std::vector<bool> EqualSpeedFit::find_runs_beside(std::span<const TimesBySpeed> runs,
                                                  std::size_t run) {
  EqualSpeedFit observed;
  observed.runs_ = runs;
  observed.observe();
  return observed.runs_beside(run);
}

std::vector<bool> EqualSpeedFit::runs_beside(std::size_t run) const {
  std::vector<bool> is_beside(runs_.size(), false);
  std::set<std::size_t> places;
  is_beside[run] = true;
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const Observation& entry : observations_) {
      const std::size_t place = speeds_[entry.speed].place;
      if (is_beside[entry.run] && places.insert(place).second) has_grown = true;
      if (!is_beside[entry.run] && places.contains(place)) is_beside[entry.run] = has_grown = true;
    }
  }
  return is_beside;
}

TimesBySpeed EqualSpeedFit::merge(std::span<const std::size_t> runs) const {
  TimesBySpeed merged;
  double level = 0, scatter = 0, process_scatter = 0;
  for (const std::size_t run : runs) {
    level += run_levels_[run];
    scatter += runs_[run].scatter * runs_[run].scatter;
    process_scatter += runs_[run].process_scatter * runs_[run].process_scatter;
    merged.processes += runs_[run].processes;
  }
  const auto count = static_cast<double>(runs.size());
  merged.scatter = std::sqrt(scatter / count);
  merged.process_scatter = std::sqrt(process_scatter / count);
  std::map<std::size_t, SpeedCell> cells;
  for (const std::size_t run : runs) {
    for (const SpeedCell& cell : runs_[run].cells) {
      const std::size_t speed = find_speed({place_of(cell.join), speed_stratum(cell.canary)});
      if (speed == speeds_.size()) continue;
      const auto [entry, is_new] = cells.try_emplace(speed, cell);
      if (!is_new) entry->second.samples += cell.samples;
      entry->second.time = cell_time(centre_ + level / count + speed_effects_[speed]);
    }
  }
  for (const auto& [speed, cell] : cells) merged.cells.push_back(cell);
  keep_largest_cells(merged.cells);
  return merged;
}

LogEstimate difference_at_equal_speed(const TimesBySpeed& from, const TimesBySpeed& to) {
  const TimesBySpeed runs[] = {from, to};
  return EqualSpeedFit(runs).difference(0, 1);
}

}  // namespace bench
