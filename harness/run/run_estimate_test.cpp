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
  EXPECT_GT(run.timed, 5 * process.timed) << "a fifth of the processes is replaced";
  EXPECT_LT(run.timed, 7 * process.timed);
  EXPECT_GT(run.warmup, 5 * process.warmup);
  EXPECT_GT(run.preparation, 5 * process.preparation);
  EXPECT_EQ(run.workers, (5 + 2) * 45ms);
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

TEST_F(RunPaceTest, ADisturbedProcessIsMeasuredAgain) {
  const Nanoseconds whole = expected();
  pace_.finish(0, 10);
  EXPECT_GT(pace_.remaining(whole / 10), whole * 95 / 100);
}

// A run of 20 cases in rounds of processes, as the coordinator performs it. The elapsed time is
// simulated.
class SimulatedRun {
 public:
  static constexpr int kCases = 20, kProcesses = 5;

  // `disturbed`: number of disturbed processes of seven. `process`: real time of a process.
  SimulatedRun(int disturbed, Nanoseconds process) {
    for (std::size_t i = 0; i < kCases; ++i) pace_.expect(i, kProcesses);
    int processes = 0;
    std::vector<int> remaining(kCases, kProcesses);
    for (int round = 0; round < 2 * kProcesses; ++round) {
      for (std::size_t i = 0; i < kCases; ++i) {
        if (remaining[i] == 0) continue;
        estimates_.push_back(pace_.remaining(processes * process));
        if (3 * ++processes % 7 >= disturbed) --remaining[i];
        pace_.finish(i, remaining[i]);
      }
    }
    total_ = processes * process;
    for (std::size_t i = 0; i < estimates_.size(); ++i) {
      truths_.push_back(total_ - static_cast<std::int64_t>(i) * process);
    }
  }

  std::size_t steps() const { return estimates_.size(); }
  Nanoseconds total() const { return total_; }
  // Estimated and real remaining time before a step.
  Nanoseconds estimate(std::size_t step) const { return estimates_.at(step); }
  Nanoseconds truth(std::size_t step) const { return truths_.at(step); }

 private:
  RunPace pace_{test::make_plan(std::vector<Case>(kCases, make_case(kSmall, kProcesses)))};
  std::vector<Nanoseconds> estimates_, truths_;
  Nanoseconds total_{0};
};

// Earlier, the estimate expected no further disturbed process. So it stayed the same or increased
// while disturbed processes were replaced: from 0:01 to 0:06 near the end of a run.
TEST(RunPace, TheRemainingTimeDecreasesThoughDisturbedProcessesAreReplaced) {
  const SimulatedRun run(2, 110ms);
  ASSERT_GT(run.steps(), 120U) << "processes were replaced";
  // The first processes show how many are disturbed.
  for (std::size_t step = run.steps() / 8; step < run.steps(); ++step) {
    EXPECT_LT(run.estimate(step), run.estimate(step - 1) + run.total() / 40) << step;
    if (step < run.steps() / 4) continue;
    EXPECT_GT(run.estimate(step), run.truth(step) * 3 / 4 - 100ms) << step;
    EXPECT_LT(run.estimate(step), run.truth(step) * 5 / 4 + 100ms) << step;
  }
}

TEST(RunPace, WithoutADisturbedProcessNoReplacementIsExpected) {
  const SimulatedRun run(0, 110ms);
  ASSERT_EQ(run.steps(), 100U);
  for (std::size_t step = 50; step < run.steps(); ++step) {
    EXPECT_LT(run.estimate(step), run.truth(step) * 6 / 5) << step;
  }
}

TEST(RunPace, NotMoreReplacementsAreExpectedThanPossible) {
  RunPace pace(test::make_plan({make_case(kSmall, 5)}));
  pace.expect(0, 5);
  const Nanoseconds begin = pace.remaining(0ns);
  for (int process = 0; process < 9; ++process) pace.finish(0, std::min(5, 9 - process));
  EXPECT_LT(pace.remaining(begin * 2), begin / 3) << "one of ten processes remains";
}

}  // namespace
}  // namespace bench
