// SPDX-License-Identifier: Apache-2.0
#include "harness/report/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;

CanaryRecord record(CanaryMoment moment, Nanoseconds dram, const std::string& run_id = "run1") {
  return {run_id, moment, {515us, 248us, dram, 32700ns}};
}

TEST(CanaryText, IsEmptyIfTheMachineKeptItsSpeed) {
  Report report;
  EXPECT_EQ(format_canaries(report), "");
  report.canaries = {record(CanaryMoment::before, 900us), record(CanaryMoment::midway, 2ms),
                     record(CanaryMoment::after, 909us)};
  EXPECT_EQ(format_canaries(report), "");
}

TEST(CanaryText, SaysWhichPartOfTheMachineChangedBeyondTwoPercent) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 1000us), record(CanaryMoment::after, 1019us)};
  EXPECT_EQ(format_canaries(report), "");
  report.canaries[1].time.dram = 1021us;
  EXPECT_EQ(format_canaries(report),
            "The machine's own speed changed during the run (memory 2.1 % slower), so the times "
            "are less certain than their intervals; `bench doctor` names the causes.");
  report.canaries[1].time.dram = 979us;
  report.canaries[1].time.fma = 1030us;
  EXPECT_THAT(format_canaries(report),
              testing::HasSubstr("(arithmetic 100.0 % slower, memory 2.1 % faster)"));
}

TEST(CanaryText, IsEmptyForARunThatWasCutOff) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 900us)};
  EXPECT_EQ(format_canaries(report), "");
  report.canaries = {record(CanaryMoment::after, 900us)};  // its first line was malformed
  EXPECT_EQ(format_canaries(report), "");
}

TEST(CanaryText, OfSeveralRunsTheLastCounts) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 900us), record(CanaryMoment::after, 900us),
                     record(CanaryMoment::before, 100us, "run2"),
                     record(CanaryMoment::after, 110us, "run2")};
  EXPECT_THAT(format_canaries(report), testing::HasSubstr("(memory 10.0 % slower)"));
}

CaseRecord judged(const QuietSummary& quiet) {
  CaseRecord record;
  record.quiet = quiet;
  return record;
}

TEST(QuietText, SaysBesideHowManySamplesTheMachineWasQuiet) {
  Report report;
  EXPECT_EQ(format_quiet_samples(report), "");
  report.cases = {judged({1us, 1, 40, 40, 2, 2, 0ns})};
  EXPECT_EQ(format_quiet_samples(report), "") << "nothing was left out";
  report.cases.push_back(judged({1us, 2, 10, 160, 2, 3, 5ms}));
  EXPECT_EQ(format_quiet_samples(report),
            "50 of 200 samples (25 %) were taken on a quiet machine, and only these count; 1 of 5 "
            "processes (5.000 ms) were disturbed throughout, or their threads were farther apart.");
}

TEST(QuietText, NamesCasesOfWhichAllSamplesCount) {
  Report report;
  report.cases = {judged({1us, 1, 0, 40, 0, 4, 5ms})};
  report.cases[0].flags = {Flag::disturbed};
  EXPECT_THAT(format_quiet_samples(report),
              EndsWith("; 1 case was never quiet for long enough, so that all its samples count "
                       "(flag `disturbed`)."));
}

}  // namespace
}  // namespace bench
