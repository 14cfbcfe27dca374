// SPDX-License-Identifier: Apache-2.0
#include "harness/report/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;

Report report_with(const std::vector<Nanoseconds>& canaries) {
  Report report;
  ProcessRecord& process = report.processes.emplace_back();
  process.canaries = {canaries, 2};
  report.cases.resize(1);
  return report;
}

TEST(SpeedText, IsEmptyOnASteadyMachineAndWithoutCanaries) {
  EXPECT_EQ(format_speed(Report()), "");
  EXPECT_EQ(format_speed(report_with({})), "");
  EXPECT_EQ(format_speed(report_with({1000ns, 1005ns, 0ns, 1080ns})), "");
}

TEST(SpeedText, SaysHowMuchTheSpeedVaried) {
  EXPECT_EQ(format_speed(report_with({1000ns, 1000ns, 1500ns, 2000ns, 2000ns})),
            "The machine's speed varied (its canary took 1.000 us to 2.000 us); times are stated, "
            "and runs are compared, at equal speed.");
}

TEST(SpeedText, CountsCasesThatWereNeverMeasuredAtTheStatedLevel) {
  Report report = report_with({2000ns, 2000ns});
  report.cases[0].flags = {Flag::disturbed};
  EXPECT_THAT(format_speed(report),
              EndsWith("at equal speed, which 1 case never had (flag `disturbed`)."));
}

}  // namespace
}  // namespace bench
