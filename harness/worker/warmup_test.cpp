// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/warmup.hpp"

#include "harness/worker/sampler.hpp"
#include "tests/fakes/scripted_invocation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::FakeClock;
using test::ScriptedRuns;

TEST(SamplesAgree, EqualOrWithinOnePercentOrTwoDeviations) {
  using Five = std::array<Nanoseconds, 5>;
  EXPECT_TRUE(samples_agree({}));
  EXPECT_TRUE(samples_agree(Five{1000ns, 1000ns, 1000ns, 1000ns, 1000ns}));
  EXPECT_TRUE(samples_agree(Five{1000ns, 1000ns, 1000ns, 1000ns, 1010ns}));
  EXPECT_FALSE(samples_agree(Five{1000ns, 1000ns, 1000ns, 1000ns, 1011ns}));
  EXPECT_TRUE(samples_agree(Five{1000ns, 1100ns, 1200ns, 1300ns, 1400ns}));
  EXPECT_FALSE(samples_agree(Five{1000ns, 1100ns, 1200ns, 1300ns, 1401ns}));
}

TEST(ClockHasSettled, WithinOnePercentFromTheThirdToTheLastQuarter) {
  using Clocks = std::vector<std::int64_t>;
  EXPECT_TRUE(clock_has_settled({}));
  EXPECT_TRUE(clock_has_settled(Clocks{2000, 1900, 1800, 1000}));
  EXPECT_TRUE(clock_has_settled(Clocks{1000, 1000, 1000, 1000, 1000}));
  EXPECT_TRUE(clock_has_settled(Clocks{2000, 2000, 1500, 1500, 1000, 1000, 990, 990}));
  EXPECT_FALSE(clock_has_settled(Clocks{2000, 2000, 1500, 1500, 1000, 1000, 989, 989}));
}

TEST(IterationsPerSample, ShortIterationsFillATenthMoreThanTheMinimum) {
  EXPECT_EQ(iterations_per_sample(1s, kHostBatch), 1);
  EXPECT_EQ(iterations_per_sample(50us, kHostBatch), 1);
  EXPECT_EQ(iterations_per_sample(49999ns, kHostBatch), 3);
  EXPECT_EQ(iterations_per_sample(10us, kHostBatch), 11);
  EXPECT_EQ(iterations_per_sample(0ns, kHostBatch), 110000);
}

TEST(WarmUp, EndsWhenIterationsAreReached) {
  ScriptedRuns runs([](std::int64_t) { return 60us; });
  const auto warm = warm_up(runs.rotation(), 3, 0ns, runs.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_EQ(warm->iterations, 3);
  EXPECT_EQ(warm->iterations_per_sample, 1);
  EXPECT_EQ(warm->sample, 60us);
  EXPECT_TRUE(warm->steady);
}

TEST(WarmUp, EndsWhenTheTimeIsReachedToo) {
  ScriptedRuns runs([](std::int64_t) { return 60us; });
  const auto warm = warm_up(runs.rotation(), 3, 600us, runs.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_EQ(warm->iterations, 10);
  EXPECT_EQ(runs.clock().now(), 600us);
}

TEST(WarmUp, WaitsUntilTheLastFiveAgree) {
  // 100, 90, 80, 70, 60, 60, ... us: five samples of 60 after four slower ones.
  ScriptedRuns runs(
      [](std::int64_t n) { return n < 4 ? Nanoseconds(100us - n * 10us) : Nanoseconds(60us); });
  const auto warm = warm_up(runs.rotation(), 1, 200us, runs.clock());
  ASSERT_TRUE(warm.ok());
  // After 5 samples: the deviations from 80 are 20 10 0 10 20, and the MAD is 10. They agree within
  // 2 MAD.
  EXPECT_EQ(warm->iterations, 5);
  EXPECT_TRUE(warm->steady);
}

TEST(WarmUp, BatchesShortIterations) {
  ScriptedRuns runs([](std::int64_t) { return 10us; });
  const auto warm = warm_up(runs.rotation(), 3, 0ns, runs.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_EQ(warm->iterations_per_sample, 11);
  EXPECT_EQ(warm->iterations, 5 + 5 * 11);
  EXPECT_EQ(warm->sample, 110us);
}

TEST(WarmUp, GivesUpAfterTenTimesTheTime) {
  ScriptedRuns runs([](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; });
  const auto warm = warm_up(runs.rotation(), 3, 100us, runs.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_FALSE(warm->steady);
  EXPECT_EQ(warm->iterations, 14);  // 7 * (60 + 90) us >= 1 ms
}

TEST(WarmUp, SaysWhyAKernelFailed) {
  ScriptedRuns runs([](std::int64_t) { return 60us; });
  runs.fail_at(2);
  const auto warm = warm_up(runs.rotation(), 3, 0ns, runs.clock());
  ASSERT_FALSE(warm.ok());
  EXPECT_EQ(warm.error().message(), "scripted failure");
}

}  // namespace
}  // namespace bench
