// SPDX-License-Identifier: Apache-2.0
#include "harness/run/canary_phase.hpp"

#include "tests/fakes/coordinator_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::kFirst;
using test::kSecond;
using test::kSetup;
using test::kShortWarmup;
using test::measure;
using testing::ElementsAre;
using testing::IsEmpty;

class CanaryPhaseTest : public test::CoordinatorTest {
 protected:
  CanaryPhaseTest() {
    canaries_ = [this](Clock&, std::optional<Bytes>, std::optional<Bytes>) -> Result<Canaries> {
      clock_.advance(1ms);
      const auto round = static_cast<std::int64_t>(++rounds_);
      return Canaries{round * 1us, 2us, 3us, 4us};
    };
    const WorkerFactory start = parts_.start_worker;
    parts_.start_worker = [this, start](std::optional<int> threads) {
      threads_.push_back(threads);
      return start(threads);
    };
  }
  static Plan two_cases(int processes) {
    return test::make_plan({test::make_case(kFirst, measure(processes), kShortWarmup),
                            test::make_case(kSecond, measure(processes), kShortWarmup)});
  }
  std::vector<CanaryMoment> moments() const {
    std::vector<CanaryMoment> result;
    for (const CanaryRecord& record : sink_.all<CanaryRecord>()) result.push_back(record.moment);
    return result;
  }
  // The kinds of records as letters: run, canary, process, end. A case's letter is at its last
  // process.
  std::string order() const {
    struct Letter {
      char operator()(const RunRecord&) const { return 'r'; }
      char operator()(const ProcessRecord&) const { return 'p'; }
      char operator()(const CaseRecord&) const { return 'c'; }  // removed below
      char operator()(const ProfilePassRecord&) const { return 'f'; }
      char operator()(const CanaryRecord&) const { return 'C'; }
      char operator()(const EndRecord&) const { return 'e'; }
    };
    std::string letters;
    for (const Record& record : sink_.records) letters += std::visit(Letter{}, record);
    std::erase(letters, 'c');
    return letters;
  }

  int rounds_ = 0;
  std::vector<std::optional<int>> threads_;  // threads of the workers, in the order of their start
};

TEST_F(CanaryPhaseTest, AreTakenBeforeMidwayAndAfterAllTiming) {
  const RunSummary summary = run(two_cases(4));
  EXPECT_EQ(order(), "rCppppCppppCe");
  EXPECT_THAT(sink_.all<CanaryRecord>(),
              ElementsAre(CanaryRecord{"run1", CanaryMoment::before, {1us, 2us, 3us, 4us}},
                          CanaryRecord{"run1", CanaryMoment::midway, {2us, 2us, 3us, 4us}},
                          CanaryRecord{"run1", CanaryMoment::after, {3us, 2us, 3us, 4us}}));
  // Each runs in a separate worker with one thread.
  EXPECT_THAT(threads_,
              ElementsAre(1, std::nullopt, std::nullopt, 1, std::nullopt, std::nullopt, 1));
  const Accounting& time = summary.end.accounting;
  EXPECT_EQ(time.setup, 8 * kSetup + 3 * 1ms);
  EXPECT_EQ(time.idle, 0ns);
  EXPECT_EQ(time.wall, time.timed + time.warmup + time.setup + time.check);
}

TEST_F(CanaryPhaseTest, MidwayIsTheFirstBoundaryBehindHalfOfTheSteps) {
  run(two_cases(5));
  EXPECT_EQ(order(), "rCppppppCppppCe");
}

TEST_F(CanaryPhaseTest, OneProcessHasNoMidway) {
  run(two_cases(1));
  EXPECT_THAT(moments(), ElementsAre(CanaryMoment::before, CanaryMoment::after));
}

TEST_F(CanaryPhaseTest, WhatMeasuresNothingNeedsNone) {
  run(test::make_plan({test::make_case("gemm/forward/m4n4k4/f32/cublaslt/cuda/hot", measure(2))}));
  EXPECT_EQ(order(), "re");
  EXPECT_EQ(rounds_, 0);
}

TEST_F(CanaryPhaseTest, BelowAToolThereAreNone) {
  options_.under = "perf record";
  run(two_cases(1));
  EXPECT_EQ(order(), "rppe");
  EXPECT_EQ(rounds_, 0);
}

TEST_F(CanaryPhaseTest, AnOlderWorkerCostsTheCanariesAlone) {
  // The answer of a worker whose decoder does not know the command.
  canaries_ = [this](Clock&, std::optional<Bytes>, std::optional<Bytes>) -> Result<Canaries> {
    ++rounds_;
    return Error{"unknown command `canary`", "", ""};
  };
  const RunSummary summary = run(two_cases(4));
  EXPECT_EQ(order(), "rppppppppe");
  EXPECT_EQ(rounds_, 1);
  EXPECT_THAT(observer_.messages, ElementsAre("no canaries: unknown command `canary`"));
  EXPECT_EQ(summary.end.exit, 0);
}

TEST_F(CanaryPhaseTest, AWorkerThatDiesCostsTheCanariesAlone) {
  fault_ = [](const Request& request) -> std::optional<WorkerFailure> {
    if (!std::holds_alternative<CanaryRequest>(request)) return std::nullopt;
    return WorkerFailure{WorkerFailure::Kind::crashed, "SIGBUS"};
  };
  const RunSummary summary = run(two_cases(2));
  EXPECT_THAT(moments(), IsEmpty());
  EXPECT_THAT(observer_.messages, ElementsAre("no canaries: SIGBUS"));
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 4u);
  EXPECT_EQ(summary.end.exit, 0);
}

TEST_F(CanaryPhaseTest, AnInterruptEndsThemToo) {
  options_.interrupted = [this] { return rounds_ > 0; };
  const RunSummary summary = run(two_cases(2));
  EXPECT_EQ(order(), "re");
  EXPECT_THAT(observer_.messages, IsEmpty());
  EXPECT_TRUE(summary.end.interrupted);
}

TEST_F(CanaryPhaseTest, BehindTheEndOfTheBudgetThereAreNone) {
  options_.budget = 1ms + 200us;  // enough for the first canaries and the beginning
  run(two_cases(2));
  EXPECT_THAT(moments(), ElementsAre(CanaryMoment::before));
}

}  // namespace
}  // namespace bench
