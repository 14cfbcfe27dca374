// SPDX-License-Identifier: Apache-2.0
#include "base/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

MATCHER(IsNear, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 1e-9 * std::abs(std::get<1>(arg));
}

TEST(LinearTicks, AreRoundAndWithinTheRange) {
  EXPECT_THAT(linear_ticks({0, 10}, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(linear_ticks({-0.12, 0.31}, 5), Pointwise(IsNear(), {-0.1, 0.0, 0.1, 0.2, 0.3}));
  EXPECT_THAT(linear_ticks({3, 997}, 3), ElementsAre(500));
  EXPECT_THAT(linear_ticks({1e9, 1e9 + 4}, 5).size(), 5U);
}

TEST(LinearTicks, NeverExceedTheLimit) {
  for (const double high : {0.7, 1.0, 1.3, 2.0, 3.7, 4.9, 5.1, 9.99}) {
    for (std::size_t limit = 1; limit < 9; ++limit) {
      EXPECT_LE(linear_ticks({0, high}, limit).size(), limit) << high;
    }
  }
}

TEST(LogTicks, AddTwosAndFivesIfThereIsRoom) {
  EXPECT_THAT(log_ticks({1, 100}, 7), Pointwise(IsNear(), {1., 2., 5., 10., 20., 50., 100.}));
  EXPECT_THAT(log_ticks({1, 100}, 6), Pointwise(IsNear(), {1., 10., 100.}));
  EXPECT_THAT(log_ticks({1, 1e6}, 4), Pointwise(IsNear(), {1., 1e2, 1e4, 1e6}));
  EXPECT_THAT(log_ticks({0.003, 0.04}, 8), Pointwise(IsNear(), {0.005, 0.01, 0.02}));
}

TEST(LogTicks, AreRoundValuesWithinANarrowRange) {
  EXPECT_THAT(log_ticks({210, 560}, 5), Pointwise(IsNear(), {300., 400., 500.}));
}

TEST(Ticks, ThereAreNoneForAnUnusableRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Extent range : {Extent{1, 1}, Extent{2, 1}, Extent{0, infinity}, Extent{NAN, 1}}) {
    EXPECT_THAT(linear_ticks(range, 5), IsEmpty());
    EXPECT_THAT(log_ticks(range, 5), IsEmpty());
  }
  EXPECT_THAT(linear_ticks({1e18, 1e18 + 256}, 5), IsEmpty());
  EXPECT_THAT(linear_ticks({-1e308, 1e308}, 5), IsEmpty());
  EXPECT_THAT(log_ticks({-1, 10}, 5), IsEmpty());
  EXPECT_THAT(linear_ticks({0, 1}, 0), IsEmpty());
}

TEST(Scale, MapsValuesAndKeepsOthersAtTheNearerEnd) {
  const Scale linear(Scale::Kind::linear, {-1, 1}, {100, 200});
  EXPECT_DOUBLE_EQ(linear.position(0), 150);
  EXPECT_DOUBLE_EQ(linear.position(-7), 100);
  EXPECT_DOUBLE_EQ(linear.position(7), 200);
  const Scale upwards(Scale::Kind::logarithmic, {1, 100}, {300, 0});
  EXPECT_THAT(upwards.position(10), DoubleNear(150, 1e-9));
  EXPECT_DOUBLE_EQ(upwards.position(1e9), 0);
}

TEST(TickTexts, HaveTheUnitThatKeepsThemShort) {
  EXPECT_EQ(format_time_tick(0), "0");
  EXPECT_EQ(format_time_tick(250), "250 ns");
  EXPECT_EQ(format_time_tick(1000), "1 us");
  EXPECT_EQ(format_time_tick(2.5e6), "2.5 ms");
  EXPECT_EQ(format_flop_rate_tick(2e11), "200 GFLOP/s");
  EXPECT_EQ(format_change_tick(0.05), "+5 %");
  EXPECT_EQ(format_change_tick(-0.005), "-0.5 %");
  EXPECT_EQ(format_change_tick(0), "0 %");
}

}  // namespace
}  // namespace bench
