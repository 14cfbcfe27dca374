// SPDX-License-Identifier: Apache-2.0
#include "harness/store/history.hpp"

#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/speed_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using test::baseline;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr double kExact = 1e-12;
auto near(double value) { return DoubleNear(value, kExact); }

std::vector<RunStatistics> levels(const std::vector<std::pair<int, double>>& runs) {
  std::vector<RunStatistics> result;
  for (const auto& [epoch, value] : runs) result.push_back({epoch, value});
  return result;
}

TEST(HistoryTest, ARunIsTheLogarithmOfTheMedianOverItsProcesses) {
  const std::vector<BaselineRecord> records = {
      baseline(1, {Nanoseconds(100), Nanoseconds(300), Nanoseconds(200)})};
  const StoredStatistics found = run_statistics(records);
  ASSERT_EQ(found.runs.size(), 1u);
  EXPECT_THAT(found.runs[0].log_time, near(std::log(200)));
  EXPECT_FALSE(found.recent);
}

// The machine became slower after the second run, the program did not.
TEST(HistoryTest, RunsWithCanariesAreComparedAtEqualSpeed) {
  std::vector<BaselineRecord> records;
  for (int number = 1; number <= 4; ++number) {
    BaselineRecord& record = records.emplace_back(baseline(number, {Nanoseconds(100)}));
    TimesBySpeed times = number <= 2 ? test::times_at(1000, Nanoseconds(1500))
                                     : test::times_at(1400, Nanoseconds(2200));
    times.cells.push_back({std::nullopt, Nanoseconds(3000), 10, Picoseconds(2'000'000)});
    test::set_by_speed(record.measured, times);
  }
  const StoredStatistics found = run_statistics(records);
  ASSERT_EQ(found.runs.size(), 4u);
  for (const RunStatistics& run : found.runs)
    EXPECT_THAT(run.log_time, DoubleNear(std::log(1000), 0.005));
  EXPECT_THAT(run_differences(found.runs), testing::Each(DoubleNear(0, 0.005)));
  ASSERT_TRUE(found.recent);
  EXPECT_THAT(difference_at_equal_speed(*found.recent, *records[3].measured.by_speed).value,
              DoubleNear(0, 0.005));
  records.push_back(baseline(5, {Nanoseconds(300)}));  // written by a version without canaries
  EXPECT_THAT(run_statistics(records).runs.back().log_time, near(std::log(300)));
}

TEST(HistoryTest, RunsWithThreadsAtAnotherDistanceAreLeftOut) {
  std::vector<BaselineRecord> records;
  for (const int join : {700, 1600, 700}) {
    BaselineRecord& record =
        records.emplace_back(baseline(static_cast<int>(records.size()) + 1, {Nanoseconds(100)}));
    test::set_by_speed(record.measured, test::times_at(join, test::kFakeCanary, Nanoseconds(join)));
  }
  EXPECT_EQ(run_statistics(records).runs.size(), 2u);
}

TEST(HistoryTest, DifferencesDoNotCrossEpochs) {
  const auto runs = levels({{0, 1.0}, {0, 1.25}, {1, 9.0}, {1, 8.5}, {3, 4.0}});
  EXPECT_THAT(run_differences(runs), ElementsAre(0.25, -0.5));
  EXPECT_THAT(run_differences(levels({{0, 1.0}})), IsEmpty());
}

// Differences 0.01 -0.02 0.03 0.00: median 0.005, deviations 0.005 0.025 0.025 0.005, MAD 0.015.
TEST(HistoryTest, SpreadBetweenRuns) {
  const std::vector<double> differences = {0.01, -0.02, 0.03, 0.0};
  EXPECT_THAT(between_run_sigma(differences), Optional(near(1.4826 * 0.015 / std::sqrt(2.0))));
  EXPECT_EQ(between_run_sigma(std::vector{0.01}), std::nullopt);
}

// Logs of 1 and e: mean 1/2, squares 1/2; of 1, 1, e^3: mean 1, squares 6. Sum: 6.5 over 1 + 2.
TEST(HistoryTest, SpreadBetweenProcessesIsPooledOverRuns) {
  BaselineRecord two = baseline(1, {Nanoseconds(1), Nanoseconds(1)});
  BaselineRecord three = baseline(2, {Nanoseconds(1), Nanoseconds(1), Nanoseconds(1)});
  constexpr double kScale = 1e15;  // so that integers represent e precisely enough
  for (BaselineRecord* record : {&two, &three}) {
    for (ProcessSummary& process : record->measured.processes)
      process.median = Nanoseconds(1'000'000'000'000'000);
  }
  two.measured.processes[1].median = Nanoseconds(std::llround(kScale * std::exp(1)));
  three.measured.processes[2].median = Nanoseconds(std::llround(kScale * std::exp(3)));
  const std::vector<BaselineRecord> records = {two, three, baseline(3, {Nanoseconds(7)})};
  EXPECT_THAT(between_process_sigma(records), Optional(near(std::sqrt(6.5 / 3))));
  EXPECT_EQ(between_process_sigma(std::vector{baseline(3, {Nanoseconds(7)})}), std::nullopt);
}

TEST(HistoryTest, SpreadIsModeratedTowardsTheSuite) {
  const std::vector<double> differences = {0.01, -0.02, 0.03, 0.0};
  const double own = 1.4826 * 0.015 / std::sqrt(2.0);
  // Four differences have weight 4, the suite 8.
  EXPECT_THAT(moderated_sigma(differences, 0.02),
              Optional(near(std::sqrt((8 * 0.0004 + 4 * own * own) / 12))));
  EXPECT_THAT(moderated_sigma(differences, std::nullopt), Optional(near(own)));
  const std::vector<double> few = {0.01, -0.02, 0.03};
  EXPECT_EQ(moderated_sigma(few, 0.02), 0.02);
  EXPECT_EQ(moderated_sigma(few, std::nullopt), std::nullopt);
  EXPECT_EQ(moderated_sigma({}, 0.02), 0.02);
}

TEST(HistoryTest, QuantilesAreOfAbsoluteDifferences) {
  const std::vector<double> differences = {0.01, -0.05, 0.03, -0.02, 0.04};
  EXPECT_THAT(difference_quantile(differences, 0.95), Optional(near(0.048)));  // 0.04 + 0.8 * 0.01
  EXPECT_THAT(difference_quantile(differences, 0.5), Optional(near(0.03)));
  EXPECT_THAT(difference_quantile(differences, 1), Optional(near(0.05)));
  EXPECT_EQ(difference_quantile({}, 0.95), std::nullopt);
}

TEST(HistoryTest, CentreIsTheMeanOfTheLastRunsOfThePresentEpoch) {
  const auto seven =
      levels({{0, 100}, {1, 90}, {1, 80}, {1, 10}, {1, 12}, {1, 14}, {1, 16}, {1, 18}});
  EXPECT_THAT(center(seven), Optional(near(14)));  // of 10 12 14 16 18
  EXPECT_EQ(present_runs(seven), 7u);
  EXPECT_THAT(center(levels({{0, 100}, {1, 90}, {1, 80}})), Optional(near(85)));
  EXPECT_EQ(center({}), std::nullopt);
}

}  // namespace
}  // namespace bench
