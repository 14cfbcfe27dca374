// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_estimate.hpp"

#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSmall = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";
constexpr const char* kOther = "gemm/forward/m8n4k4/f32/onednn/cpu/hot";

Case make_case(const char* id, int processes) {
  Measure measure;
  measure.processes = processes;
  measure.max_time = 1s;
  return test::make_case(id, measure, {3, 100ms});
}

// The estimate used to omit warm-up, checks, setup and workers.
TEST(RunEstimate, CountsEverythingThatARunSpendsItsTimeOn) {
  const RunEstimate process = estimate_process(make_case(kSmall, 5));
  EXPECT_EQ(process.timed, 200ms);
  EXPECT_EQ(process.warmup, 150ms);
  EXPECT_GE(process.preparation, 70ms);
  EXPECT_EQ(process.workers, 0ns);
  const RunEstimate run = estimate_run(test::make_plan({make_case(kSmall, 5)}));
  EXPECT_EQ(run.timed, 1s);
  EXPECT_EQ(run.warmup, 750ms);
  EXPECT_GE(run.preparation, 5 * process.preparation);
  EXPECT_EQ(run.workers, 5 * 150ms + 3 * 250ms);
  EXPECT_EQ(run.total(), run.timed + run.warmup + run.preparation + run.workers);
}

TEST(RunEstimate, CasesOfOneRoundShareAWorker) {
  const RunEstimate one = estimate_run(test::make_plan({make_case(kSmall, 5)}));
  const RunEstimate two =
      estimate_run(test::make_plan({make_case(kSmall, 5), make_case(kOther, 5)}));
  EXPECT_EQ(two.workers, one.workers);
  EXPECT_EQ(two.timed, 2 * one.timed);
  EXPECT_EQ(estimate_run(test::make_plan({})), RunEstimate{});
}

TEST(RunEstimate, AnIterationLongerThanItsTimeBudgetIsStillMeasured) {
  const Case large = make_case("gemm/forward/m20000n20000k20000/f32/onednn/cpu/hot", 5);
  const RunEstimate process = estimate_process(large);
  EXPECT_GT(process.timed, 10s);
  EXPECT_EQ(process.warmup, 3 * process.timed);
  EXPECT_EQ(estimate_check(large), 1s) << "larger outputs are compared in part";
}

class RunPaceTest : public testing::Test {
 protected:
  RunPaceTest() { pace_.expect(0, 10); }

  Nanoseconds expected() { return pace_.remaining(0ns); }

  RunPace pace_{test::make_plan({make_case(kSmall, 10)})};
};

TEST_F(RunPaceTest, BeginsWithTheEstimate) {
  const Plan plan = test::make_plan({make_case(kSmall, 10)});
  EXPECT_NEAR(static_cast<double>(expected().count()),
              static_cast<double>(estimate_run(plan).total().count()), 10);
}

TEST_F(RunPaceTest, MovesFromTheEstimateToTheMeasuredPace) {
  const Nanoseconds whole = expected();
  const Nanoseconds part = whole / 10;
  // The run is five times as fast as estimated. The remaining time must decrease without a jump.
  Nanoseconds before = whole;
  for (int done = 1; done < 9; ++done) {
    pace_.finish(0, 10 - done);
    const Nanoseconds left = pace_.remaining(done * part / 5);
    const Nanoseconds truth = (10 - done) * part / 5;
    EXPECT_LT(left, before);
    EXPECT_GT(left, truth) << "the estimate still counts";
    EXPECT_GT(left, before * 2 / 5) << done;
    if (done >= 5) {
      EXPECT_LT(left, 2 * truth) << done;
    }
    before = left;
  }
}

TEST_F(RunPaceTest, ACaseThatEndsTakesNoMoreTime) {
  const Nanoseconds part = expected() / 10;
  pace_.finish(0, 0);  // skipped by its first process
  EXPECT_EQ(pace_.remaining(part), 0ns);
}

TEST_F(RunPaceTest, ADisturbedProcessIsMeasuredAgain) {
  const Nanoseconds whole = expected();
  pace_.finish(0, 10);
  EXPECT_GT(pace_.remaining(whole / 10), whole * 95 / 100);
}

}  // namespace
}  // namespace bench
