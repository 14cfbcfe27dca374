// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_one.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using testing::DoubleNear;
using testing::Optional;

// Runs of one epoch.
StoredStatistics runs_of(const std::vector<double>& log_times) {
  StoredStatistics stored;
  for (const double log_time : log_times) stored.runs.push_back({0, log_time});
  return stored;
}

// Differences 0.1 -0.1 0.1 -0.1: deviations of 0.1 about their median 0.
const std::vector<double> kRestless = {7, 7.1, 7, 7.1, 7};
const double kRestlessSigma = 1.4826 * 0.1 / std::sqrt(2.0);

class StoredLevelTest : public testing::Test {
 protected:
  StoredEvidence& add(StoredStatistics runs) {
    levels_.push_back(std::move(runs));
    return cases_.emplace_back().stored.emplace();
  }
  const StoredEvidence& stored(std::size_t index) const { return *cases_[index].stored; }

  std::vector<CaseEvidence> cases_;
  std::vector<StoredStatistics> levels_;
};

TEST_F(StoredLevelTest, LevelAndVariationAreThoseOfTheRuns) {
  add(runs_of(kRestless));
  set_stored_levels(cases_, levels_);
  EXPECT_THAT(stored(0).sigma, DoubleNear(kRestlessSigma, 1e-12));
  EXPECT_EQ(stored(0).runs, 5);
  EXPECT_THAT(stored(0).log_level, DoubleNear(7.04, 1e-12));
  EXPECT_THAT(stored(0).q95, Optional(DoubleNear(0.1, 1e-12)));
  EXPECT_THAT(stored(0).q99, Optional(DoubleNear(0.1, 1e-12)));
  EXPECT_FALSE(stored(0).by_speed);
}

TEST_F(StoredLevelTest, TheSuiteStandsInForFewRuns) {
  add(runs_of(kRestless));
  add(runs_of({3}));
  set_stored_levels(cases_, levels_);
  EXPECT_EQ(stored(1).runs, 1);
  EXPECT_EQ(stored(1).sigma, stored(0).sigma);
  EXPECT_FALSE(stored(1).q95);
}

TEST_F(StoredLevelTest, ACaseOfUnknownNoiseHasNoRuns) {
  add(runs_of({3, 3.5}));
  set_stored_levels(cases_, levels_);
  EXPECT_EQ(stored(0).runs, 0);
  EXPECT_EQ(stored(0).sigma, 0);
}

TEST_F(StoredLevelTest, WhatIsIncomparableOrNotThereStaysSo) {
  add({}).incomparable = "case_hash differs";
  cases_.emplace_back();
  levels_.emplace_back();
  add(runs_of(kRestless));
  set_stored_levels(cases_, levels_);
  EXPECT_EQ(stored(0).sigma, 0);
  EXPECT_FALSE(cases_[1].stored);
  EXPECT_GT(stored(2).sigma, 0);
}

}  // namespace
}  // namespace bench
