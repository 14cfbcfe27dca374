// SPDX-License-Identifier: Apache-2.0
#include "harness/result/latency.hpp"

#include "base/checked.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace bench {
namespace {

// Minimum exact coverage of the intervals, as for times (summary.cpp).
constexpr double kMinLatencyCoverage = 0.9;

LatencyCounts counts_from(const std::map<Nanoseconds, std::int64_t>& by_time) {
  LatencyCounts counts;
  counts.times.reserve(by_time.size());
  counts.counts.reserve(by_time.size());
  for (const auto& [time, count] : by_time) {
    counts.times.push_back(time);
    counts.counts.push_back(count);
  }
  return counts;
}

// Returns the percentile of all iterations with the interval of the processes' percentiles. Sets
// the coverage of the interval.
LatencyPercentile summarise_percentile(const LatencyCounts& all,
                                       std::span<const LatencyCounts* const> processes,
                                       double probability, std::optional<double>& confidence) {
  LatencyPercentile result{*percentile(all, probability)};
  std::vector<Nanoseconds> values;
  for (const LatencyCounts* process : processes)
    values.push_back(*percentile(*process, probability));
  const auto interval = median_interval(values, kMinLatencyCoverage);
  if (!interval) return result;
  // The percentile of all iterations need not be the median of those of the processes.
  result.low = std::min(interval->low, result.time);
  result.high = std::max(interval->high, result.time);
  confidence = interval->confidence;
  return result;
}

}  // namespace

LatencyCounts count_latencies(std::vector<Nanoseconds> latencies) {
  std::ranges::sort(latencies);
  LatencyCounts counts;
  for (const Nanoseconds latency : latencies) {
    if (counts.times.empty() || counts.times.back() != latency) {
      counts.times.push_back(latency);
      counts.counts.push_back(0);
    }
    ++counts.counts.back();
  }
  return counts;
}

void append(LatencyCounts& counts, const LatencyCounts& more) {
  std::map<Nanoseconds, std::int64_t> by_time;
  for (const LatencyCounts* part : {&std::as_const(counts), &more}) {
    for (std::size_t i = 0; i < part->times.size(); ++i) by_time[part->times[i]] += part->counts[i];
  }
  const Nanoseconds clock = std::max(counts.clock, more.clock);
  counts = counts_from(by_time);
  counts.clock = clock;
}

std::int64_t total_count(const LatencyCounts& counts) {
  std::int64_t total = 0;
  for (const std::int64_t count : counts.counts) total += count;
  return total;
}

std::optional<Nanoseconds> percentile(const LatencyCounts& counts, double probability) {
  const std::int64_t total = total_count(counts);
  if (total == 0) return std::nullopt;
  // 0.9 * 10 is slightly more than 9 in binary, which must not become the tenth.
  constexpr double kRounding = 1e-9;
  const auto rank = std::max<std::int64_t>(
      1, std::llround(std::ceil(probability * static_cast<double>(total) - kRounding)));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < counts.times.size(); ++i) {
    seen += counts.counts[i];
    if (seen >= rank) return counts.times[i];
  }
  return counts.times.back();
}

std::string find_latency_problem(const LatencyCounts& counts) {
  if (counts.times.size() != counts.counts.size() || counts.times.empty())
    return "has no count for each latency";
  Checked total = 0;
  for (std::size_t i = 0; i < counts.times.size(); ++i) {
    if (counts.counts[i] < 1) return "has a count that is not at least 1";
    if (i > 0 && counts.times[i] <= counts.times[i - 1]) return "is not in ascending order";
    total += counts.counts[i];
  }
  // A sum over several processes must not overflow either.
  constexpr std::int64_t kMaxCount = std::int64_t{1} << 48;
  return total.value().value_or(kMaxCount + 1) > kMaxCount ? "has too many iterations" : "";
}

std::optional<Latency> summarise_latencies(std::span<const ProcessRecord* const> processes) {
  LatencyCounts all;
  std::vector<const LatencyCounts*> parts;
  for (const ProcessRecord* process : processes) {
    if (!process->latencies) continue;
    append(all, *process->latencies);
    parts.push_back(&*process->latencies);
  }
  if (parts.empty()) return std::nullopt;
  Latency latency;
  latency.iterations = total_count(all);
  for (const LatencyPercentileRow& row : kLatencyPercentiles) {
    latency.*row.value = summarise_percentile(all, parts, row.probability, latency.confidence);
  }
  latency.min = all.times.front();
  latency.max = all.times.back();
  latency.clock = all.clock;
  return latency;
}

std::optional<ItemsPerSecond> item_rate(const CaseRecord& record) {
  if (!record.items || !record.time || record.time->median.count() <= 0) return std::nullopt;
  return ItemsPerSecond{static_cast<double>(*record.items) * 1e9 /
                        static_cast<double>(record.time->median.count())};
}

}  // namespace bench
