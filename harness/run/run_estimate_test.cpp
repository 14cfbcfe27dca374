// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_estimate.hpp"

#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

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
  EXPECT_EQ(process.timed, 35 * 110us) << "the samples for a precision of 2 %";
  EXPECT_EQ(process.warmup, 100ms + 5 * 110us);
  EXPECT_GE(process.preparation, 4ms);
  EXPECT_EQ(process.workers, 0ns);
  const RunEstimate run = estimate_run(test::make_plan({make_case(kSmall, 5)}));
  EXPECT_EQ(run.timed, 5 * process.timed);
  EXPECT_EQ(run.warmup, 5 * process.warmup);
  EXPECT_GT(run.preparation, 5 * process.preparation);
  EXPECT_EQ(run.workers, 5 * 45ms);
  EXPECT_EQ(run.total(), run.timed + run.warmup + run.preparation + run.workers);
}

// Earlier, the estimate was max_time for each case, which is up to 40 times as long as it takes to
// reach the precision.
TEST(RunEstimate, AProcessEndsWhenItsPrecisionIsReached) {
  Case spec = make_case(kSmall, 5);
  spec.measure.min_iterations = 10;
  spec.measure.precision = 0.05;
  EXPECT_EQ(estimate_process(spec).timed, 14 * 110us);
  spec.measure.min_iterations = 20;
  EXPECT_EQ(estimate_process(spec).timed, 20 * 110us);
  spec.measure.precision = 1e-9;
  EXPECT_EQ(estimate_process(spec).timed, 200ms) << "its part of max_time";
  spec.measure.precision = 0;
  EXPECT_EQ(estimate_process(spec).timed, 200ms);
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
  EXPECT_LT(estimate_check(large), 60s) << "larger outputs are compared in part";
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
    if (done >= 6) {
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

TEST_F(RunPaceTest, TheRemainingTimeDecreasesWithEachProcess) {
  Nanoseconds before = expected();
  for (int done = 1; done <= 10; ++done) {
    pace_.finish(0, 10 - done);
    const Nanoseconds left = pace_.remaining(done * 110ms);
    EXPECT_LT(left, before);
    before = left;
  }
  EXPECT_EQ(before, 0ns);
}

}  // namespace
}  // namespace bench
