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

// The processor's canaries do not explain times on a GPU's clock.
TEST(SpeedText, OfAGpuIsThatOfItsClock) {
  Report report = report_with({1000ns, 1000ns, 1500ns, 2000ns, 2000ns});
  report.cases[0].id = report.processes[0].id = "gemm/forward/m4n4k4/f16/cublaslt/cuda/hot";
  report.cases[0].device = "cuda";
  EXPECT_EQ(format_speed(report), "");
  for (int i = 0; i < 10; ++i) {
    report.processes[0].device.clock_hz.push_back(i < 5 ? 1'400'000'000 : 1'700'000'000);
  }
  EXPECT_EQ(
      format_speed(report),
      "The GPU's clock varied: 1.40 to 1.70 GHz in 80 % of the samples. `sudo nvidia-smi -lgc "
      "1400` locks it to the lower one, `sudo nvidia-smi -rgc` unlocks it.");
}

}  // namespace
}  // namespace bench
