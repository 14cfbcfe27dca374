// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

// Duets whose log-ratios spread evenly over -width..width; the processes spread by the same
// fraction.
RecordedDuets kernel(double width) {
  RecordedDuets record;
  record.name = "kernel";
  constexpr int kDuets = 101;  // a prime: steps of 37 visit all of them
  for (int i = 0; i < kDuets; ++i) {
    const double place = (static_cast<double>(i * 37 % kDuets) - 50) / 50;
    record.log_ratios.push_back(width * place);
    record.base_q25.push_back(1e6 * std::exp(width * place));
  }
  return record;
}

SimulationOptions options(int slower, double slowdown) {
  SimulationOptions result;
  result.suites = 20;
  result.cases = 20;
  result.slower = slower;
  result.slowdown = slowdown;
  return result;
}

TEST(Simulation, QuietKernelsGiveNoAlarm) {
  const std::vector<RecordedDuets> kernels = {kernel(0.002)};
  const SimulationResult result = simulate(kernels, options(0, 0));
  EXPECT_EQ(result.suites, 20);
  EXPECT_EQ(result.clean, 400);
  EXPECT_EQ(result.red_suites, 0);
  EXPECT_EQ(result.false_positives, 0);
  EXPECT_EQ(result.slow, 0);
  EXPECT_DOUBLE_EQ(result.processes_per_case, 1 + 2 * 6);
}

TEST(Simulation, SlowdownsOfQuietKernelsAreFound) {
  const std::vector<RecordedDuets> kernels = {kernel(0.002)};
  const SimulationResult result = simulate(kernels, options(4, 0.05));
  EXPECT_EQ(result.slow, 80);
  EXPECT_EQ(result.detected, 80);
  EXPECT_EQ(result.false_positives, 0);
}

TEST(Simulation, WhatIsHiddenByNoiseIsNotFoundAndSaysSo) {
  const std::vector<RecordedDuets> kernels = {kernel(0.5)};
  const SimulationResult result = simulate(kernels, options(4, 0.02));
  EXPECT_LT(result.detected, 20);
  EXPECT_GT(result.inconclusive, 200);
  EXPECT_GT(result.processes_per_case, 40);
}

TEST(Simulation, EveryCaseHasItsFirstDuets) {
  const std::vector<RecordedDuets> kernels = {kernel(0.002)};
  EXPECT_DOUBLE_EQ(simulate(kernels, options(0, 0)).processes_per_case, 1 + 2 * 6);
}

// Every duet measures +2 %. The sides were drawn at random, so the mirror image is as likely.
TEST(Simulation, AShiftOfBothSidesIsNoAlarm) {
  RecordedDuets shifted = kernel(0.001);
  for (double& ratio : shifted.log_ratios) ratio += 0.02;
  const std::vector<RecordedDuets> kernels = {shifted};
  EXPECT_EQ(simulate(kernels, options(0, 0)).red_suites, 0);
}

TEST(Simulation, TheSameSeedGivesTheSame) {
  const std::vector<RecordedDuets> kernels = {kernel(0.05), kernel(0.002)};
  SimulationOptions seeded = options(4, 0.03);
  const SimulationResult one = simulate(kernels, seeded);
  const SimulationResult same = simulate(kernels, seeded);
  seeded.seed = 2;
  const SimulationResult other = simulate(kernels, seeded);
  EXPECT_EQ(one.processes_per_case, same.processes_per_case);
  EXPECT_NE(one.processes_per_case, other.processes_per_case);
}

}  // namespace
}  // namespace bench
