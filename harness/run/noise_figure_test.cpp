// SPDX-License-Identifier: Apache-2.0
#include "harness/run/noise_figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A process whose rounds all take the same time.
CanaryRounds steady(Nanoseconds fma, Nanoseconds l2, Nanoseconds dram) {
  return CanaryRounds(kNoiseRounds, Canaries{fma, l2, dram, 50us});
}

TEST(NoiseFigure, IsTheSmallestDifferenceThatACompareDetects) {
  const std::vector<CanaryRounds> processes = {
      steady(1000us, 1000us, 1000us), steady(1000us, 1010us, 1100us),
      steady(1000us, 1020us, 1050us), steady(1000us, 1030us, 1900us),
      steady(1000us, 1040us, 1000us)};
  const auto figure = noise_figure(processes);
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->processes, 5U);
  ASSERT_EQ(figure->workloads.size(), 3U);
  // (median - minimum of the logarithms) times 1.25, plus 0.01 for the variation between runs
  EXPECT_EQ(figure->workloads[0].name, "arithmetic");
  EXPECT_NEAR(figure->workloads[0].fraction, std::exp(0.01) - 1, 1e-12);
  EXPECT_NEAR(figure->workloads[1].fraction, std::exp(1.25 * std::log(1.02) + 0.01) - 1, 1e-12);
  EXPECT_NEAR(figure->workloads[2].fraction, std::exp(1.25 * std::log(1.05) + 0.01) - 1, 1e-12);
  EXPECT_DOUBLE_EQ(figure->max_fraction(), figure->workloads[2].fraction);
}

TEST(NoiseFigure, OneDisturbedRoundOfAProcessDoesNotChangeTheFigure) {
  std::vector<CanaryRounds> processes(kNoiseProcesses, steady(1ms, 1ms, 1ms));
  processes[2][3] = Canaries{9ms, 9ms, 9ms, 50us};
  const auto figure = noise_figure(processes);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->max_fraction(), std::exp(0.01) - 1, 1e-12);
}

TEST(NoiseFigure, TwoProcessesAndProcessesWithoutRoundsHaveNone) {
  std::vector<CanaryRounds> processes(2, steady(1ms, 1ms, 1ms));
  EXPECT_FALSE(noise_figure(processes));
  processes.emplace_back();
  EXPECT_FALSE(noise_figure(processes));
  processes.push_back(steady(1ms, 1ms, 1ms));
  const auto figure = noise_figure(processes);
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->processes, 3U);
}

TEST(NoiseFinding, SaysWhichDifferencesAreNotSeen) {
  const Finding finding =
      noise_finding({5, {{"arithmetic", 0.0126}, {"L2 cache", 0.02}, {"memory", 0.0361}}});
  EXPECT_EQ(finding.level, Finding::Level::note);
  EXPECT_EQ(finding.found,
            "differences below about 4 % will not be seen here with 5 processes (arithmetic 1.3 %, "
            "L2 cache 2.0 %, memory 3.6 %)");
  EXPECT_THAT(finding.remedy, HasSubstr("bench gate --base"));
}

TEST(NoiseFinding, LevelDependsOnTheDetectableDifference) {
  const Finding quiet = noise_finding({5, {{"memory", 0.03}}});
  EXPECT_EQ(quiet.level, Finding::Level::good);
  EXPECT_EQ(quiet.remedy, "");
  EXPECT_EQ(noise_finding({5, {{"memory", 0.11}}}).level, Finding::Level::problem);
  EXPECT_THAT(no_noise_finding(30ms).found, HasSubstr("30.00 ms do not suffice for 3 processes"));
}

}  // namespace
}  // namespace bench
