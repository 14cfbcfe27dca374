// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_passes.hpp"

#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRead = "peak/forward/read-b65536/f32/native/cpu/hot";
constexpr const char* kCopy = "peak/forward/copy-b131072/f32/native/cpu/hot";

class PeakPassesTest : public testing::Test {
 protected:
  // Each part takes `time`.
  Result<PeakPasses> measure(int passes, Nanoseconds limit, Nanoseconds time) {
    return measure_in_passes(
        groups_, passes, limit,
        [&](const Plan& group, Nanoseconds rest) -> Result<PeakPart> {
          measured_.push_back(group.cases.front().id);
          limits_.push_back(rest);
          clock_.advance(time);
          PeakPart part;
          part.summary.cases = std::ssize(group.cases);
          part.summary.stopped_by = stop_;
          return part;
        },
        clock_);
  }

  test::FakeClock clock_;
  std::vector<std::string> first_ = {kRead};
  std::vector<Plan> groups_ =
      group_by_value(test::make_plan({test::make_case(kCopy), test::make_case(kRead)}), first_);
  std::vector<std::string> measured_;
  std::vector<Nanoseconds> limits_;
  std::optional<StopCause> stop_;
};

// One moment of a busy machine gave a ceiling that was 1.63 times too low.
TEST_F(PeakPassesTest, EachCeilingIsMeasuredInSeveralMoments) {
  const auto passes = measure(2, 60s, 10s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead, kCopy, kRead, kCopy));
  EXPECT_THAT(limits_, ElementsAre(60s, 50s, 40s, 30s));
  EXPECT_EQ(passes->first.size(), 2U);
  EXPECT_EQ(passes->repeated.size(), 2U);
  EXPECT_THAT(passes->unreached, IsEmpty());
  EXPECT_EQ(join_first_pass(*passes).summary.stopped_by, std::nullopt);
}

TEST_F(PeakPassesTest, TheEndOfTheTimeCostsTheLeastValuableOnes) {
  const auto passes = measure(3, 10s, 11s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead));
  EXPECT_THAT(passes->unreached, ElementsAre(kCopy));
  const PeakPart all = join_first_pass(*passes);
  EXPECT_EQ(all.summary.stopped_by, StopCause::budget);
  EXPECT_TRUE(all.summary.any_unmeasured);
  EXPECT_EQ(
      format_stop(all.summary),
      "stopped by the budget: 1 of 2 cases has fewer processes than asked for, 1 of them none");
}

TEST_F(PeakPassesTest, TheEndOfTheTimeInALaterPassLeavesNothingUnmeasured) {
  const auto passes = measure(3, 25s, 9s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead, kCopy, kRead));
  const PeakPart all = join_first_pass(*passes);
  EXPECT_FALSE(all.summary.any_unmeasured);
  EXPECT_EQ(format_stop(all.summary), "");
}

TEST_F(PeakPassesTest, AnInterruptionEndsAllPasses) {
  stop_ = StopCause::interruption;
  const auto passes = measure(3, 60s, 1s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead));
  EXPECT_EQ(join_first_pass(*passes).summary.stopped_by, StopCause::interruption);
}

}  // namespace
}  // namespace bench
