// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_pass.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using namespace std::chrono_literals;

class ProfileCostTest : public testing::Test {
 protected:
  // Returns an iteration that appends `name` to order_ and takes `time` on the fake clock.
  ProfilerOverhead::Iteration iteration(char name, Nanoseconds time) {
    return [this, name, time]() -> Result<Nanoseconds> {
      order_ += name;
      clock_.advance(time);
      return time;
    };
  }

  test::FakeClock clock_;
  std::string order_;
};

TEST_F(ProfileCostTest, IsTheMedianOfPairsInAlternatingOrder) {
  ProfilerOverhead cost(clock_, iteration('a', 100us), iteration('b', 103us));
  ASSERT_TRUE(cost.measure_half().ok());
  EXPECT_EQ(order_.size(), static_cast<std::size_t>(kMaxOverheadPairs));
  EXPECT_EQ(order_.substr(0, 8), "abbaabba");
  ASSERT_TRUE(cost.measure_half().ok());
  EXPECT_EQ(order_.size(), static_cast<std::size_t>(2 * kMaxOverheadPairs));
  EXPECT_EQ(cost.plain(), 100us);
  EXPECT_EQ(cost.profiled(), 103us);
}

TEST_F(ProfileCostTest, EndsWithThePairThatFillsItsTime) {
  ProfilerOverhead cost(clock_, iteration('a', 100ms), iteration('b', 110ms));
  ASSERT_TRUE(cost.measure_half().ok());
  EXPECT_EQ(order_, "abbaab");
}

TEST_F(ProfileCostTest, OneKindAloneIsMeasuredAsOften) {
  ProfilerOverhead cost(clock_, iteration('a', 100us), iteration('b', 103us));
  ASSERT_TRUE(cost.measure_profiled().ok());
  EXPECT_EQ(order_, std::string(static_cast<std::size_t>(kMaxOverheadPairs), 'b'));
  EXPECT_EQ(cost.plain(), 0ns);
  ASSERT_TRUE(cost.measure_plain().ok());
  EXPECT_EQ(order_.size(), static_cast<std::size_t>(2 * kMaxOverheadPairs));
  EXPECT_EQ(cost.plain(), 100us);
  EXPECT_EQ(cost.profiled(), 103us);
}

TEST_F(ProfileCostTest, AFailureOfAnIterationEndsIt) {
  ProfilerOverhead cost(clock_, iteration('a', 1us), []() -> Result<Nanoseconds> {
    return Error{"broken", "", ""};
  });
  const Status status = cost.measure_half();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), "broken");
  EXPECT_EQ(order_, "a");
  EXPECT_EQ(cost.profiled(), 0ns);
}

}  // namespace
}  // namespace bench
