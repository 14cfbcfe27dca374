// SPDX-License-Identifier: Apache-2.0
#include "harness/result/quiet.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace bench {
namespace {

// Limits the memory per number of threads. New canaries replace the oldest ones.
constexpr std::size_t kMaxCanaries = 20'000;

bool has_canaries(const ProcessRecord& process) {
  const SampleCanaries& canaries = process.canaries;
  return canaries.threads && canaries.level && *canaries.level > Nanoseconds(0) &&
         canaries.times.size() == process.samples.size();
}

std::vector<Nanoseconds> quiet_samples(const ProcessRecord& process, Nanoseconds level) {
  std::vector<Nanoseconds> quiet;
  for (std::size_t i = 0; i < process.samples.size(); ++i) {
    if (is_quiet(process.canaries.times[i], level)) quiet.push_back(process.samples[i]);
  }
  return quiet;
}

bool has_enough_quiet(const std::vector<Nanoseconds>& quiet, const ProcessRecord& process) {
  return quiet.size() >= std::min(kMinQuietSamples, process.samples.size());
}

// Returns the shortest join time of the processes; nullopt if no process has one.
std::optional<Nanoseconds> shortest_join(const std::vector<CountedSamples>& processes) {
  std::optional<Nanoseconds> shortest;
  for (const CountedSamples& entry : processes) {
    const std::optional<Nanoseconds>& join = entry.process->canaries.join;
    if (join && (!shortest || *join < *shortest)) shortest = join;
  }
  return shortest;
}

Nanoseconds sum_times(std::span<const Nanoseconds> samples) {
  return std::accumulate(samples.begin(), samples.end(), Nanoseconds(0));
}

}  // namespace

void QuietLevels::know(int threads, Nanoseconds level) {
  const auto [stored, is_new] = stored_.try_emplace(threads, level);
  if (!is_new) stored->second = std::min(stored->second, level);
}

void QuietLevels::learn(int threads, std::span<const Nanoseconds> canaries) {
  std::vector<Nanoseconds>& times = canaries_[threads];
  std::ranges::copy_if(canaries, std::back_inserter(times),
                       [](Nanoseconds time) { return time > Nanoseconds(0); });
  if (times.size() > kMaxCanaries) {
    times.erase(times.begin(), times.end() - static_cast<std::ptrdiff_t>(kMaxCanaries));
  }
}

std::optional<Nanoseconds> QuietLevels::level(int threads) const {
  std::optional<Nanoseconds> level;
  if (const auto canaries = canaries_.find(threads);
      canaries != canaries_.end() && !canaries->second.empty()) {
    level = quantile(canaries->second, kQuietQuantile);
  }
  if (const auto stored = stored_.find(threads); stored != stored_.end()) {
    level = level ? std::min(*level, stored->second) : stored->second;
  }
  return level;
}

bool is_quiet(Nanoseconds canary, Nanoseconds level) {
  return canary > Nanoseconds(0) && static_cast<double>(canary.count()) <=
                                        (1 + kQuietTolerance) * static_cast<double>(level.count());
}

bool is_farther(Nanoseconds join, Nanoseconds reference) {
  return static_cast<double>(join.count()) > kJoinFactor * static_cast<double>(reference.count());
}

std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes) {
  std::vector<CountedSamples> all;
  for (const ProcessRecord* process : processes) {
    if (!process->samples.empty()) all.push_back({process, process->samples});
  }
  return all;
}

JudgedSamples judge_samples(std::span<const ProcessRecord* const> processes) {
  JudgedSamples judged;
  judged.counted = all_samples(processes);
  const bool all_have_canaries = std::ranges::all_of(
      judged.counted, [](const CountedSamples& entry) { return has_canaries(*entry.process); });
  if (judged.counted.empty() || !all_have_canaries) return judged;

  QuietSummary quiet;
  quiet.level = Nanoseconds::max();
  quiet.all_processes = std::ssize(judged.counted);
  for (const CountedSamples& entry : judged.counted) {
    quiet.level = std::min(quiet.level, *entry.process->canaries.level);
    quiet.threads = *entry.process->canaries.threads;
    quiet.all_samples += std::ssize(entry.samples);
  }
  std::vector<CountedSamples> counted;
  for (const CountedSamples& entry : judged.counted) {
    quiet.waited += sum_times(entry.samples);
    std::vector<Nanoseconds> samples = quiet_samples(*entry.process, quiet.level);
    quiet.samples += std::ssize(samples);
    if (has_enough_quiet(samples, *entry.process))
      counted.push_back({entry.process, std::move(samples)});
  }
  quiet.join = shortest_join(counted);
  std::erase_if(counted, [&](const CountedSamples& entry) {
    const std::optional<Nanoseconds>& join = entry.process->canaries.join;
    return join && is_farther(*join, *quiet.join);
  });
  for (const CountedSamples& entry : counted) quiet.waited -= sum_times(entry.process->samples);
  quiet.processes = std::ssize(counted);
  if (!counted.empty()) judged.counted = std::move(counted);
  judged.quiet = quiet;
  return judged;
}

}  // namespace bench
