// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/steady_canaries.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

std::vector<Nanoseconds> canaries_of(const std::vector<int>& times) {
  return {times.begin(), times.end()};
}

std::vector<Nanoseconds> steady(const std::vector<int>& times) {
  return steady_canaries(canaries_of(times));
}

TEST(SteadyCanaries, AShortDisturbanceGoes) {
  EXPECT_EQ(steady({15, 15, 15, 15, 40, 41, 42, 43, 15, 15, 15, 15}),
            canaries_of(std::vector<int>(12, 15)));
}

TEST(SteadyCanaries, ALastingChangeStaysWhereItWas) {
  const std::vector<int> times = {15, 15, 15, 15, 15, 24, 24, 24, 24, 24, 16, 16, 16, 16, 16};
  EXPECT_EQ(steady(times), canaries_of(times));
}

TEST(SteadyCanaries, UnknownCanariesStayUnknownAndAreNoNeighbours) {
  EXPECT_EQ(steady({0, 15, 0, 0, 40, 0, 0, 16, 0}), canaries_of({0, 16, 0, 0, 16, 0, 0, 16, 0}));
}

TEST(SteadyCanaries, OfAnEvenNumberTheLowerMiddleCounts) {
  EXPECT_EQ(steady({10, 20}), canaries_of({10, 10}));
  EXPECT_EQ(steady({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), canaries_of({3, 3, 4, 4, 5, 6, 6, 7, 7, 8}));
  EXPECT_TRUE(steady({}).empty());
}

}  // namespace
}  // namespace bench
