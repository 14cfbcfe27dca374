// SPDX-License-Identifier: Apache-2.0
#include "harness/result/speed.hpp"

#include "harness/stats/steady_canaries.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kLevelQuantile = 0.2;
// Canaries within this fraction of the level were taken at the level.
constexpr double kLevelTolerance = 0.03;
constexpr double kMaxSampleTime = 9e18;  // nanoseconds; below 2^63

bool is_at_level(Nanoseconds canary, Nanoseconds level) {
  const double ratio = static_cast<double>(canary.count()) / static_cast<double>(level.count());
  return std::abs(ratio - 1) <= kLevelTolerance;
}

CountedSamples correct_samples(const ProcessRecord& process, const EqualSpeedFit& fit) {
  CountedSamples counted{&process, {}};
  const std::vector<Nanoseconds> canaries = steady_canaries(process.canaries.times);
  for (std::size_t i = 0; i < process.samples.size(); ++i) {
    const auto correction = fit.correction(0, canaries[i], process.canaries.join);
    if (!correction) continue;
    counted.samples.push_back(Nanoseconds(std::llround(std::min(
        static_cast<double>(process.samples[i].count()) * std::exp(*correction), kMaxSampleTime))));
  }
  return counted;
}

// Scales the samples so that the median of the processes' medians is `time`, in nanoseconds of an
// iteration. The fit weighs samples by their speed, so the median of its corrected samples is near
// its time but not equal to it.
void scale_to(double time, std::vector<CountedSamples>& counted) {
  std::vector<double> medians;
  for (const CountedSamples& entry : counted) {
    medians.push_back(static_cast<double>(median(entry.samples)->count()) /
                      static_cast<double>(entry.process->iterations_per_sample));
  }
  const double middle = median(medians).value_or(0);
  if (!(middle > 0)) return;
  for (CountedSamples& entry : counted) {
    for (Nanoseconds& sample : entry.samples) {
      sample = Nanoseconds(std::llround(
          std::min(static_cast<double>(sample.count()) * (time / middle), kMaxSampleTime)));
    }
  }
}

}  // namespace

std::optional<int> canary_threads(std::span<const ProcessRecord* const> processes) {
  std::optional<int> threads;
  for (const ProcessRecord* process : processes) {
    if (process->samples.empty()) continue;
    const SampleCanaries& canaries = process->canaries;
    const bool is_complete = canaries.threads && canaries.times.size() == process->samples.size();
    if (!is_complete || (threads && *threads != *canaries.threads)) return std::nullopt;
    threads = canaries.threads;
  }
  return threads;
}

std::optional<Nanoseconds> choose_level(std::span<const ProcessRecord* const> processes) {
  std::vector<Nanoseconds> canaries;
  for (const ProcessRecord* process : processes) {
    std::ranges::copy_if(process->canaries.times, std::back_inserter(canaries),
                         [](Nanoseconds canary) { return canary > Nanoseconds(0); });
  }
  return quantile(canaries, kLevelQuantile);
}

std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes) {
  std::vector<CountedSamples> all;
  for (const ProcessRecord* process : processes) {
    if (!process->samples.empty()) all.push_back({process, process->samples});
  }
  return all;
}

std::optional<TimesBySpeed> times_by_speed(std::span<const ProcessRecord* const> processes) {
  if (!canary_threads(processes)) return std::nullopt;
  std::vector<SpeedProcess> views;
  for (const ProcessRecord* process : processes) {
    views.push_back({process->samples, process->canaries.times, process->iterations_per_sample,
                     process->canaries.join});
  }
  return group_by_speed(views);
}

std::optional<TimesBySpeed> times_by_speed(std::span<const ProcessRecord> processes) {
  std::vector<const ProcessRecord*> pointers;
  for (const ProcessRecord& process : processes) pointers.push_back(&process);
  return times_by_speed(pointers);
}

std::optional<SamplesAtLevel> samples_at(std::span<const ProcessRecord* const> processes,
                                         Nanoseconds level) {
  auto by_speed = times_by_speed(processes);
  if (!by_speed || level <= Nanoseconds(0)) return std::nullopt;
  const EqualSpeedFit fit({&*by_speed, 1}, level);
  SamplesAtLevel result;
  for (const ProcessRecord* process : processes) {
    CountedSamples counted = correct_samples(*process, fit);
    if (!counted.samples.empty()) result.counted.push_back(std::move(counted));
  }
  result.time = fit.time_at(0);
  scale_to(std::exp(result.time.value), result.counted);
  result.is_level_seen = std::ranges::any_of(
      by_speed->cells, [&](const SpeedCell& cell) { return is_at_level(cell.canary, level); });
  result.by_speed = *std::move(by_speed);
  return result;
}

}  // namespace bench
