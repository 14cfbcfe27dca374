// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/warmup.hpp"

#include "harness/stats/summary.hpp"
#include "harness/wire/worker_limits.hpp"
#include "harness/worker/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace bench {
namespace {

// The last samples of one batch size.
class SampleWindow {
 public:
  void push(Nanoseconds sample) {
    if (samples_.size() == kSteadySamples) samples_.erase(samples_.begin());
    samples_.push_back(sample);
  }
  bool is_full() const { return samples_.size() == kSteadySamples; }
  void clear() { samples_.clear(); }
  std::span<const Nanoseconds> samples() const { return samples_; }
  Nanoseconds median_sample() const { return median(samples_).value_or(Nanoseconds(0)); }

 private:
  std::vector<Nanoseconds> samples_;
};

}  // namespace

bool samples_agree(std::span<const Nanoseconds> samples) {
  const std::optional<Nanoseconds> middle = median(samples);
  if (!middle) return true;
  const std::int64_t deviation = median_absolute_deviation(samples)->count() * kSteadyDeviations;
  const auto min_limit =
      static_cast<std::int64_t>(std::llround(kSteadyShare * static_cast<double>(middle->count())));
  const std::int64_t limit = std::max(deviation, min_limit);
  return std::all_of(samples.begin(), samples.end(), [&](Nanoseconds sample) {
    return std::abs((sample - *middle).count()) <= limit;
  });
}

bool clock_has_settled(std::span<const std::int64_t> clocks) {
  if (clocks.size() < kSteadySamples) return true;
  const auto median_of = [](std::span<const std::int64_t> part) {
    return median(std::vector<double>(part.begin(), part.end())).value_or(0);
  };
  const std::size_t half = clocks.size() / 2, last = clocks.size() - clocks.size() / 4;
  const double before = median_of(clocks.subspan(half, last - half));
  const double now = median_of(clocks.subspan(last));
  return std::abs(now - before) <= kSteadyClockShare * before;
}

std::int64_t iterations_per_sample(Nanoseconds iteration, const BatchLimits& limits) {
  if (iteration >= limits.min_single) return 1;
  const std::int64_t target = limits.min_sample.count() + limits.min_sample.count() / 10;
  const std::int64_t duration = std::max<std::int64_t>(iteration.count(), 1);
  return std::min((target + duration - 1) / duration, kMaxIterationsPerSample);
}

Result<WarmUpResult> warm_up(Sampler& sampler, std::int64_t iterations, Nanoseconds time,
                             Clock& clock) {
  const BatchLimits limits = sampler.batch_limits();
  WarmUpResult result;
  result.iterations_per_sample = sampler.min_iterations();
  SampleWindow window;
  std::vector<std::int64_t> clocks;
  const Nanoseconds start = clock.now();
  for (;;) {
    const std::optional<Nanoseconds> sample = sampler.warm(result.iterations_per_sample);
    if (!sample) return Error{sampler.failure(), "", ""};
    result.iterations += result.iterations_per_sample;
    window.push(*sample);
    if (const auto clock_hz = sampler.warm_clock_hz()) clocks.push_back(*clock_hz);

    // If the smallest sample is long enough, one is enough to know the batch size.
    const std::int64_t batch = result.iterations_per_sample;
    const bool is_batch_known =
        window.is_full() || (batch == sampler.min_iterations() && *sample >= limits.min_single);
    if (window.is_full() && window.median_sample() < limits.min_sample &&
        batch < kMaxIterationsPerSample) {
      const std::int64_t larger = iterations_per_sample(window.median_sample() / batch, limits);
      if (larger > batch) {
        result.iterations_per_sample = larger;
        window.clear();
        continue;
      }
    }
    const Nanoseconds elapsed = clock.now() - start;
    if (!is_batch_known || result.iterations < iterations || elapsed < time) continue;
    result.steady = samples_agree(window.samples()) && clock_has_settled(clocks);
    if ((window.is_full() && result.steady) || elapsed >= kWarmupTimeFactor * time) break;
  }
  result.sample = window.median_sample();
  return result;
}

Result<WarmUpResult> warm_up(Rotation& rotation, std::int64_t iterations, Nanoseconds time,
                             Clock& clock) {
  return warm_up(*make_host_sampler(rotation, clock), iterations, time, clock);
}

}  // namespace bench
