// SPDX-License-Identifier: Apache-2.0
// Latencies of single iterations of cases with streams. All percentiles are exact: they come from
// every iteration that counts, never from medians. Pure functions.
#pragma once

#include "harness/result/record.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Counts equal latencies; in ascending order.
LatencyCounts count_latencies(std::vector<Nanoseconds> latencies);
// Adds the latencies of `more` to `counts`.
void append(LatencyCounts& counts, const LatencyCounts& more);
std::int64_t total_count(const LatencyCounts& counts);

// Returns the smallest latency that at least the fraction `probability` of all iterations do not
// exceed (nearest rank): a latency that an iteration had. Returns nullopt without iterations.
// Requires 0 < probability <= 1.
std::optional<Nanoseconds> percentile(const LatencyCounts& counts, double probability);

// Returns what is wrong with counts from an untrusted source; empty if nothing is.
std::string find_latency_problem(const LatencyCounts& counts);

// Summarises the latencies of a case over all its processes. The intervals are order statistics of
// the percentiles of the processes (stats/summary.hpp). Returns nullopt without latencies.
std::optional<Latency> summarise_latencies(std::span<const ProcessRecord* const> processes);

// Returns the items of one iteration per second, for cases that state their items and have a time.
std::optional<ItemsPerSecond> item_rate(const CaseRecord& record);

}  // namespace bench
