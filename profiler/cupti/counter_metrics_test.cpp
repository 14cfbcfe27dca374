// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/counter_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array kMemory = {LogicalCounter::dram_read_bytes, LogicalCounter::l2_hit_share};

CounterPlan plan(std::span<const LogicalCounter> counters, std::set<std::string> base_metrics) {
  return plan_counters("GX100", counters, [&](std::string_view metric) {
    return base_metrics.contains(std::string(base_metric(metric)));
  });
}

TEST(CounterMetrics, EachQuestionHasCandidatesThatStandTogether) {
  std::set<LogicalCounter> done;
  std::set<std::string_view> firsts;
  const LogicalCounter* previous = nullptr;
  for (const MetricCandidate& candidate : metric_candidates()) {
    if (previous == nullptr || *previous != candidate.counter) {
      EXPECT_TRUE(done.insert(candidate.counter).second) << candidate.metrics[0];
    }
    previous = &candidate.counter;
    EXPECT_FALSE(candidate.metrics[0].empty());
    for (const std::string_view metric : candidate.metrics) {
      EXPECT_TRUE(metric.empty() || base_metric(metric) != metric) << metric << " has no rollup";
    }
    const bool is_percentage = candidate.metrics[0].ends_with("pct") ||
                               candidate.metrics[0].ends_with("pct_of_peak_sustained_active");
    EXPECT_EQ(candidate.factor, is_percentage ? 0.01 : 1) << candidate.metrics[0];
  }
  EXPECT_EQ(done.size(), logical_counters().size());
}

TEST(CounterMetrics, TheFirstThatIsOfferedAnswers) {
  const CounterPlan both =
      plan(kMemory, {"dram__bytes_read", "dram__bytes_op_read", "lts__t_sector_hit_rate"});
  EXPECT_THAT(both.metrics(), ElementsAre("dram__bytes_read.sum", "lts__t_sector_hit_rate.pct"));
  EXPECT_THAT(both.unanswered, IsEmpty());
  const CounterPlan second = plan(kMemory, {"dram__bytes_op_read", "lts__t_sector_hit_rate"});
  EXPECT_THAT(second.metrics(),
              ElementsAre("dram__bytes_op_read.sum", "lts__t_sector_hit_rate.pct"));
}

TEST(CounterMetrics, ASumNeedsAllOfItsParts) {
  constexpr std::array kHalf = {LogicalCounter::tensor_operations_f16};
  EXPECT_THAT(plan(kHalf, {"sm__ops_path_tensor_src_fp16_dst_fp32"}).metrics(), IsEmpty());
  const CounterPlan whole = plan(
      kHalf, {"sm__ops_path_tensor_src_fp16_dst_fp32", "sm__ops_path_tensor_src_fp16_dst_fp16"});
  ASSERT_EQ(whole.answers.size(), 1u);
  EXPECT_EQ(whole.answers[0].metrics.size(), 2u);
}

TEST(CounterMetrics, WhatNothingAnswersSaysSo) {
  const CounterPlan none = plan(kMemory, {"lts__t_sector_hit_rate"});
  EXPECT_EQ(none.unanswered.at(LogicalCounter::dram_read_bytes),
            "GX100 has no dram__bytes_read, dram__bytes_op_read");
  EXPECT_EQ(none.answers.size(), 1u);
}

TEST(CounterMetrics, ReadingsAreScaledAndAdded) {
  constexpr std::array kSome = {LogicalCounter::tensor_operations_f16, LogicalCounter::l2_hit_share,
                                LogicalCounter::dram_read_bytes};
  const CounterPlan some =
      plan(kSome, {"sm__ops_path_tensor_src_fp16_dst_fp16", "sm__ops_path_tensor_src_fp16_dst_fp32",
                   "lts__t_sector_hit_rate"});
  const std::array values = {8.0, 32.0, 62.5};
  const CounterReadings readings = read_counters(some, values);
  EXPECT_EQ(find_value(readings, LogicalCounter::tensor_operations_f16), 40.0);
  EXPECT_EQ(
      readings.at("tensor_operations_f16").source,
      "sm__ops_path_tensor_src_fp16_dst_fp16.sum + sm__ops_path_tensor_src_fp16_dst_fp32.sum");
  EXPECT_DOUBLE_EQ(find_value(readings, LogicalCounter::l2_hit_share).value(), 0.625);
  EXPECT_EQ(find_value(readings, LogicalCounter::dram_read_bytes), std::nullopt);
  EXPECT_THAT(readings.at("dram_read_bytes").source, HasSubstr("GX100 has no"));
}

constexpr std::array kHitShare = {LogicalCounter::l2_hit_share};

// An H100's own rate was above 1 in 60 of 122 cases.
TEST(CounterMetrics, AShareIsDividedByTheSumOfItsParts) {
  const CounterPlan hits = plan(kHitShare, {"lts__t_sector_hit_rate", "lts__t_sectors_lookup_hit",
                                            "lts__t_sectors_lookup_miss"});
  EXPECT_THAT(hits.metrics(),
              ElementsAre("lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"));
  const std::array values = {300.0, 100.0};
  const CounterReading reading = read_counters(hits, values).at("l2_hit_share");
  EXPECT_EQ(reading.value, 0.75);
  EXPECT_EQ(reading.source,
            "lts__t_sectors_lookup_hit.sum / (lts__t_sectors_lookup_hit.sum + "
            "lts__t_sectors_lookup_miss.sum)");
  const std::array nothing = {0.0, 0.0};
  EXPECT_EQ(read_counters(hits, nothing).at("l2_hit_share").value, std::nullopt);
}

TEST(CounterMetrics, AShareAboveOneIsUnknown) {
  const auto read = [](double percentage) {
    const std::array values = {percentage};
    return read_counters(plan(kHitShare, {"lts__t_sector_hit_rate"}), values).at("l2_hit_share");
  };
  EXPECT_EQ(read(101.5).value, 1.0);
  EXPECT_EQ(read(112.9), (CounterReading{std::nullopt,
                                         "lts__t_sector_hit_rate.pct is 1.13: it mixes passes "
                                         "that differ"}));
}

TEST(CounterMetrics, AShareOfNothingIsUnknown) {
  constexpr std::array kShare = {LogicalCounter::l2_hit_share};
  const std::array values = {std::numeric_limits<double>::quiet_NaN()};
  const CounterReadings readings = read_counters(plan(kShare, {"lts__t_sector_hit_rate"}), values);
  EXPECT_EQ(readings.at("l2_hit_share"),
            (CounterReading{std::nullopt, "lts__t_sector_hit_rate.pct counted nothing"}));
}

}  // namespace
}  // namespace bench
