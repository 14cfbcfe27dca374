// SPDX-License-Identifier: Apache-2.0
#include "harness/report/canary_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::Not;

CanaryRecord record(CanaryMoment moment, Nanoseconds dram, const std::string& run_id = "run1") {
  return {run_id, moment, {515us, 248us, dram, 32700ns}};
}

TEST(CanaryText, GivesTimesAndHowFarTheyMoved) {
  Report report;
  EXPECT_EQ(canary_text(report), "");
  report.canaries = {record(CanaryMoment::before, 900us), record(CanaryMoment::midway, 2ms),
                     record(CanaryMoment::after, 909us)};
  EXPECT_EQ(canary_text(report),
            "canaries: fma 515.0 us, l2 248.0 us, dram 900.0 us, timer 32.70 us; before to after "
            "+0.0 %, +0.0 %, +1.0 %, +0.0 %");
}

TEST(CanaryText, SaysThatTheMachineMovedBeyondTwoPercent) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 1000us), record(CanaryMoment::after, 1019us)};
  EXPECT_THAT(canary_text(report), Not(EndsWith("the machine moved")));
  report.canaries[1].time.dram = 1021us;
  EXPECT_THAT(canary_text(report), EndsWith("+2.1 %, +0.0 %: the machine moved"));
  report.canaries[1].time.dram = 979us;
  EXPECT_THAT(canary_text(report), EndsWith("-2.1 %, +0.0 %: the machine moved"));
}

TEST(CanaryText, OfARunThatWasCutOffThereAreNoShifts) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 900us)};
  EXPECT_EQ(canary_text(report),
            "canaries: fma 515.0 us, l2 248.0 us, dram 900.0 us, timer 32.70 us");
  report.canaries = {record(CanaryMoment::after, 900us)};  // its first line was damaged
  EXPECT_EQ(canary_text(report),
            "canaries: fma 515.0 us, l2 248.0 us, dram 900.0 us, timer 32.70 us");
}

TEST(CanaryText, OfSeveralRunsTheLastCounts) {
  Report report;
  report.canaries = {record(CanaryMoment::before, 900us), record(CanaryMoment::after, 900us),
                     record(CanaryMoment::before, 100us, "run2"),
                     record(CanaryMoment::after, 110us, "run2")};
  EXPECT_THAT(canary_text(report), testing::HasSubstr("dram 100.0 us"));
  EXPECT_THAT(canary_text(report), EndsWith("+10.0 %, +0.0 %: the machine moved"));
}

}  // namespace
}  // namespace bench
