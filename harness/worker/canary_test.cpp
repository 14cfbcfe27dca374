// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/canary.hpp"

#include "harness/worker/canary_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

// Every second reading ends a measurement: measurement `n` took as long as `script` says.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::function<Nanoseconds(std::size_t n)> script)
      : script_(std::move(script)) {}
  Nanoseconds now() override {
    if (readings_++ % 2 == 1) time_ += script_(readings_ / 2 - 1);
    return time_;
  }
  std::size_t readings() const { return readings_; }

 private:
  std::function<Nanoseconds(std::size_t)> script_;
  std::size_t readings_ = 0;
  Nanoseconds time_{0};
};

TEST(Canaries, AreTheMediansOfTheirRepetitions) {
  // The repetitions of each workload take 0 to 14 us in different orders; an offset separates the
  // workloads.
  ScriptedClock clock([](std::size_t n) {
    const std::size_t piece = n / kCanaryRepetitions;
    const std::size_t repetition = n % kCanaryRepetitions;
    return piece * 1ms + (repetition * 7 + piece) % kCanaryRepetitions * 1us;
  });
  const Result<Canaries> canaries = measure_canaries(clock, std::nullopt, std::nullopt);
  ASSERT_TRUE(canaries.ok()) << canaries.error().message();
  EXPECT_EQ(*canaries, (Canaries{2007us, 1007us, 7us, 3007us}));
  EXPECT_EQ(clock.readings(), 4 * 2 * kCanaryRepetitions);
}

TEST(Canaries, TakeTimeOnTheRealClock) {
  MonotonicClock clock;
  const Result<Canaries> canaries = measure_canaries(clock, std::nullopt, std::nullopt);
  ASSERT_TRUE(canaries.ok()) << canaries.error().message();
  EXPECT_GT(canaries->fma, 0ns);
  EXPECT_GT(canaries->l2, 0ns);
  EXPECT_GT(canaries->dram, 0ns);
  EXPECT_GT(canaries->timer, 0ns);
}

TEST(Canaries, MemoryGrowsWithTheLastCacheWithinBounds) {
  const auto mebibytes = [](std::int64_t count) { return Bytes{count << 20}; };
  EXPECT_EQ(canary_memory(std::nullopt), mebibytes(192));
  EXPECT_EQ(canary_memory(mebibytes(32)), mebibytes(192));
  EXPECT_EQ(canary_memory(mebibytes(128)), mebibytes(256));
  EXPECT_EQ(canary_memory(mebibytes(1152)), mebibytes(512));
}

TEST(Canaries, DoNotTakeMemoryThatIsNotThere) {
  MonotonicClock clock;
  const Result<Canaries> canaries = measure_canaries(clock, std::nullopt, Bytes{191 << 20});
  ASSERT_FALSE(canaries.ok());
  EXPECT_EQ(canaries.error().message(), "no memory for the canaries, which take 192.0 MiB");
}

TEST(CanaryWork, IsDone) {
  // Each step moves a chain closer to 1 by a factor. With no steps the result is the sum of 1 to 8.
  EXPECT_DOUBLE_EQ(multiply_add_chains(0), 36);
  EXPECT_NEAR(multiply_add_chains(1), 8 + 28 * 0.999999, 1e-9);
  EXPECT_NEAR(multiply_add_chains(20'000'000), 8, 1e-6);
  const std::vector<double> left = {1, 2, 3}, right = {10, 20, 30};
  std::vector<double> to(3);
  triad(to.data(), left.data(), right.data(), 2);
  EXPECT_THAT(to, testing::ElementsAre(31, 62, 0));
  EXPECT_GE(read_clock(3), 0);
}

}  // namespace
}  // namespace bench
