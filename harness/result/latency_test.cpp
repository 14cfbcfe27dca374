// SPDX-License-Identifier: Apache-2.0
#include "harness/result/latency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Returns the latencies `first`, first + 1 ns, ..., first + count - 1 ns.
LatencyCounts consecutive_latencies(std::int64_t first, std::int64_t count) {
  std::vector<Nanoseconds> latencies;
  for (std::int64_t i = 0; i < count; ++i) latencies.emplace_back(first + i);
  return count_latencies(std::move(latencies));
}

TEST(CountLatencies, EqualOnesAreCountedTogetherInAscendingOrder) {
  const LatencyCounts counts = count_latencies({30ns, 10ns, 30ns, 20ns, 30ns});
  EXPECT_THAT(counts.times, ElementsAre(10ns, 20ns, 30ns));
  EXPECT_THAT(counts.counts, ElementsAre(1, 1, 3));
  EXPECT_EQ(total_count(counts), 5);
}

TEST(AppendLatencies, AddsCountsAndKeepsTheSlowerClock) {
  LatencyCounts counts = count_latencies({10ns, 30ns});
  counts.clock = 21ns;
  LatencyCounts more = count_latencies({20ns, 30ns});
  more.clock = 25ns;
  append(counts, more);
  EXPECT_THAT(counts.times, ElementsAre(10ns, 20ns, 30ns));
  EXPECT_THAT(counts.counts, ElementsAre(1, 1, 2));
  EXPECT_EQ(counts.clock, 25ns);
}

// Brute force: the smallest of the sorted latencies that at least the share does not exceed.
TEST(LatencyPercentiles, AreLatenciesThatIterationsHad) {
  for (std::int64_t count = 1; count <= 250; ++count) {
    const LatencyCounts counts = consecutive_latencies(1, count);
    for (const std::int64_t percent : {1, 50, 90, 99, 100}) {
      const std::int64_t rank = (percent * count + 99) / 100;  // rounded up
      EXPECT_EQ(percentile(counts, static_cast<double>(percent) / 100), Nanoseconds(rank))
          << percent << " % of " << count;
    }
  }
  EXPECT_EQ(percentile(LatencyCounts{}, 0.5), std::nullopt);
}

TEST(LatencyProblems, AreNamed) {
  EXPECT_EQ(find_latency_problem(consecutive_latencies(5, 3)), "");
  EXPECT_EQ(find_latency_problem({}), "has no count for each latency");
  EXPECT_EQ(find_latency_problem({{1ns, 2ns}, {1}, 0ns}), "has no count for each latency");
  EXPECT_EQ(find_latency_problem({{1ns}, {0}, 0ns}), "has a count that is not at least 1");
  EXPECT_EQ(find_latency_problem({{2ns, 1ns}, {1, 1}, 0ns}), "is not in ascending order");
  EXPECT_EQ(find_latency_problem({{1ns}, {std::int64_t{1} << 60}, 0ns}), "has too many iterations");
}

class SummariseLatenciesTest : public testing::Test {
 protected:
  void add(LatencyCounts latencies) { processes_.emplace_back().latencies = std::move(latencies); }
  std::optional<Latency> summarised() {
    std::vector<const ProcessRecord*> pointers;
    for (const ProcessRecord& process : processes_) pointers.push_back(&process);
    return summarise_latencies(pointers);
  }

  std::vector<ProcessRecord> processes_;
};

TEST_F(SummariseLatenciesTest, PercentilesAreOfAllIterationsAndIntervalsOfTheProcesses) {
  for (const std::int64_t first : {101, 201, 301, 401, 501}) add(consecutive_latencies(first, 100));
  const Latency latency = *summarised();
  EXPECT_EQ(latency.iterations, 500);
  EXPECT_EQ(latency.p50, (LatencyPercentile{350ns, 150ns, 550ns}));
  EXPECT_EQ(latency.p90, (LatencyPercentile{550ns, 190ns, 590ns}));
  EXPECT_EQ(latency.p99, (LatencyPercentile{595ns, 199ns, 599ns}));
  EXPECT_EQ(latency.min, 101ns);
  EXPECT_EQ(latency.max, 600ns);
  EXPECT_EQ(latency.confidence, 0.9375);
}

TEST_F(SummariseLatenciesTest, FewProcessesHaveNoInterval) {
  add(consecutive_latencies(1, 10));
  const Latency latency = *summarised();
  EXPECT_EQ(latency.p50, (LatencyPercentile{5ns}));
  EXPECT_EQ(latency.confidence, std::nullopt);
}

TEST_F(SummariseLatenciesTest, CasesWithoutStreamsHaveNone) {
  processes_.emplace_back();
  EXPECT_EQ(summarised(), std::nullopt);
}

TEST(ItemRate, CountsTheItemsOfOneIteration) {
  CaseRecord record;
  record.items = 8;
  EXPECT_EQ(item_rate(record), std::nullopt) << "no time";
  record.time = TimeSummary{4ms, 4ms, 4ms, 4ms, 4ms, {}, {}, {}};
  EXPECT_EQ(item_rate(record), ItemsPerSecond{2000});
  record.items.reset();
  EXPECT_EQ(item_rate(record), std::nullopt);
}

}  // namespace
}  // namespace bench
