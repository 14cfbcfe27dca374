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
    const bool share = counter_row(candidate.counter).unit == CounterUnit::share;
    EXPECT_EQ(candidate.factor, share ? 0.01 : 1) << candidate.metrics[0];
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

TEST(CounterMetrics, AShareOfNothingIsUnknown) {
  constexpr std::array kShare = {LogicalCounter::l2_hit_share};
  const std::array values = {std::numeric_limits<double>::quiet_NaN()};
  const CounterReadings readings = read_counters(plan(kShare, {"lts__t_sector_hit_rate"}), values);
  EXPECT_EQ(readings.at("l2_hit_share"),
            (CounterReading{std::nullopt, "lts__t_sector_hit_rate.pct counted nothing"}));
}

}  // namespace
}  // namespace bench
