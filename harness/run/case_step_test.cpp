// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_step.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

const StopRule kRule{0.02, 20, 400ms};

TEST(StopReasonOf, PreciseOnlyAfterTheMinimum) {
  EXPECT_EQ(stop_reason(kRule, {}, 0, 0ns), std::nullopt);
  std::vector<Nanoseconds> samples(19, 10us);
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 190us), std::nullopt);
  samples.push_back(10us);
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 200us), StopReason::precision);
}

TEST(StopReasonOf, ComparesTheHalfWidthOfTheMediansInterval) {
  // 20 samples, coverage 0.95: order statistics 6 and 15. Half width / median = 2 % exactly.
  std::vector<Nanoseconds> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(980us);
  for (int i = 0; i < 10; ++i) samples.push_back(1020us);
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 20ms), StopReason::precision);
  samples.back() = samples[10] = samples[11] = samples[12] = samples[13] = samples[14] = 1021us;
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 20ms), std::nullopt);
}

TEST(StopReasonOf, EndsAfterItsShareEvenBeforeTheMinimum) {
  const std::vector<Nanoseconds> samples = {100ms, 300ms};
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 399ms), std::nullopt);
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 400ms), StopReason::max_time);
}

TEST(NextRound, FirstTheMinimumThenAsManyAsThereAre) {
  EXPECT_EQ(next_round(kRule, 0, 0ns, 1ms), 20);
  EXPECT_EQ(next_round(kRule, 20, 20ms, 1ms), 20);
  EXPECT_EQ(next_round(kRule, 40, 40ms, 1ms), 40);
  EXPECT_EQ(next_round(kRule, 200, 200ms, 1ms), 100);  // 100 ms
}

TEST(NextRound, LongSamplesAreSplit) {
  EXPECT_EQ(next_round(kRule, 0, 0ns, 24ms), 9);  // 200 ms
  EXPECT_EQ(next_round(kRule, 0, 0ns, 10s), 1);
}

TEST(NextRound, DoesNotPassTheShare) {
  EXPECT_EQ(next_round(kRule, 100, 399500us, 1ms), 1);
  EXPECT_EQ(next_round(kRule, 100, 397500us, 1ms), 3);
  EXPECT_EQ(next_round(kRule, 100, 500ms, 1ms), 1);
}

TEST(NextRound, SamplesWithoutDurationStillEnd) {
  EXPECT_EQ(next_round(kRule, 0, 0ns, 0ns), 20);
  const std::vector<Nanoseconds> samples(kMaxSamples, 0ns);
  EXPECT_EQ(stop_reason(kRule, samples, std::ssize(samples), 0ns), StopReason::max_time);
}

}  // namespace
}  // namespace bench
