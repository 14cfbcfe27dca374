// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/measurer.hpp"

#include "harness/gate/duet.hpp"
#include "harness/gate/selftest_run.hpp"
#include "harness/judge/conclusion.hpp"
#include "harness/wire/messages.hpp"
#include "tests/fakes/coordinator_fixture.hpp"
#include "tests/fakes/fake_device_memory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kSingleThread = "gemm/forward/m4n4k4/f32/onednn/cpu/hot/t1";

// Two sides over fake backends and one clock, which each side's script advances.
class GateTest : public test::CoordinatorTest {
 protected:
  using Side = SideFailure::Side;

  WorkerFactory factory(Side side) {
    return [this, side](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
      ++workers_;
      auto backend = std::make_unique<test::FakeBackend>(
          [this](Nanoseconds time) { clock_.advance(time); },
          [this, side](const std::string&) { return side_scripts_[side]; }, side_devices_[side]);
      return std::unique_ptr<WorkerLink>(new test::InProcessWorker(
          std::move(backend), clock_,
          [this, side](const Request& request) {
            if (std::holds_alternative<RoundRequest>(request)) rounds_.push_back(side);
            return side_faults_[side] ? side_faults_[side](request) : std::nullopt;
          },
          [this](Nanoseconds time) { clock_.advance(time); }));
    };
  }
  void set_iteration_time(Side side, Nanoseconds time) {
    side_scripts_[side].run = [time](std::int64_t) { return time; };
  }

  GateParts parts() {
    GateParts parts;
    parts.start_base = factory(Side::base);
    parts.start_candidate = factory(Side::candidate);
    parts.hello = {kProtocolVersion, Bytes{0}, std::nullopt};
    parts.pause = [this](Nanoseconds time) {
      pauses_.push_back(time);
      clock_.advance(time);
    };
    parts.append = [this](std::string_view line) {
      lines_.emplace_back(line);
      return Status(Done{});
    };
    return parts;
  }

  static GateEvidence evidence_for(const Plan& plan) {
    GateEvidence evidence;
    evidence.mode = GateEvidence::Mode::paired;
    for (const Case& spec : plan.cases) evidence.cases.emplace_back().candidate.id = spec.id;
    return evidence;
  }

  Decision settle(const Plan& plan, GateEvidence& evidence,
                  std::optional<Nanoseconds> budget = std::nullopt) {
    const GateParts gate_parts = parts();
    const GateTask task{&plan, "run1", 1, budget};
    GateMeasurer measurer(task, gate_parts, clock_);
    auto decision = measurer.settle(evidence);
    if (!decision.ok()) ADD_FAILURE() << decision.error().message();
    return decision.ok() ? *decision : Decision{};
  }

  std::map<Side, test::FakeScript> side_scripts_;
  std::map<Side, test::FakeDevice> side_devices_;
  std::map<Side, test::FakeFault> side_faults_;
  std::vector<Side> rounds_;
  std::vector<Nanoseconds> pauses_;
  std::vector<std::string> lines_;
};

Plan plan_of(const std::vector<std::string>& ids) {
  std::vector<Case> cases;
  for (const std::string& id : ids) {
    cases.push_back(test::make_case(id, test::measure(5), test::kShortWarmup));
  }
  return test::make_plan(std::move(cases));
}

// Both sides of a tuned case on a device, whose programs choose different engines.
class TunedGateTest : public GateTest {
 protected:
  struct Prepared {
    Side side;
    std::string choices;
    int worker;
    std::size_t rounds;  // before it
    friend bool operator==(const Prepared&, const Prepared&) = default;
  };

  TunedGateTest() {
    for (const Side side : {Side::base, Side::candidate}) {
      const char* choice = side == Side::base ? "gemm\tengine 1\n" : "gemm\tengine 2\n";
      side_devices_[side] = {"cublaslt", "cuda", &memory_, choice};
      side_scripts_[side].sample = [this](std::int64_t, const ops::SampleRequest& request) {
        ops::DeviceSample sample;
        sample.device = request.iterations * 1500us;
        clock_.advance(sample.device);
        return sample;
      };
      side_faults_[side] = [this, side](const Request& request) -> std::optional<WorkerFailure> {
        if (const auto* prepare = std::get_if<PrepareRequest>(&request))
          prepared_.push_back({side, prepare->choices, workers_, rounds_.size()});
        return std::nullopt;
      };
    }
    Case spec = test::make_case("gemm/forward/m4n4k4/f32/cublaslt/cuda/hot", test::measure(5),
                                test::kShortWarmup);
    spec.measure.tune = 8;
    plan_ = test::make_plan({std::move(spec)});
    evidence_ = evidence_for(plan_);
  }

  test::FakeDeviceMemory memory_;
  std::vector<Prepared> prepared_;
  Plan plan_;
  GateEvidence evidence_;
};

// Measuring candidates changes where the buffers of later kernels are, and with it their times.
TEST_F(TunedGateTest, EachSideChoosesInAWorkerOfItsOwn) {
  const Decision decision = settle(plan_, evidence_);
  ASSERT_GT(prepared_.size(), 4u);
  EXPECT_EQ(prepared_[0], (Prepared{Side::base, "", 1, 0}));
  EXPECT_EQ(prepared_[1], (Prepared{Side::candidate, "", 2, 0}));
  for (std::size_t i = 2; i < prepared_.size(); ++i) {
    const bool is_base = prepared_[i].side == Side::base;
    EXPECT_EQ(prepared_[i].choices, is_base ? "gemm\tengine 1\n" : "gemm\tengine 2\n");
    EXPECT_GE(prepared_[i].worker, 3);
  }
  // The evidence states both, and the verdict names the difference.
  const CaseEvidence& entry = evidence_.cases[0];
  EXPECT_EQ(entry.base->facts.at(kChoiceFact), "gemm: engine 1");
  EXPECT_EQ(entry.candidate.exact.facts.at(kChoiceFact), "gemm: engine 2");
  EXPECT_THAT(lines_[0], HasSubstr("gemm: engine 1"));
  EXPECT_THAT(decision.judgements.at(0).changes,
              testing::Contains(Change{"choice", "gemm: engine 1", "gemm: engine 2"}));
}

TEST_F(TunedGateTest, TheCandidateKeepsTheChoiceOfItsRun) {
  evidence_.cases[0].candidate.choices = "gemm\tengine 3\n";
  settle(plan_, evidence_);
  for (std::size_t i = 1; i < prepared_.size(); ++i) {
    const bool is_base = prepared_[i].side == Side::base;
    EXPECT_EQ(prepared_[i].choices, is_base ? "gemm\tengine 1\n" : "gemm\tengine 3\n");
  }
}

// Both sides of a self-test are one program, so they execute the same choice.
TEST_F(TunedGateTest, ASelfTestChoosesOnceBeforeItTimes) {
  side_devices_[Side::candidate] = side_devices_[Side::base];
  SelfTestParts self_test{factory(Side::base), factory(Side::base),  parts().hello,
                          parts().pause,       [] { return false; }, {}};
  SelfTestTask task;
  task.plan = &plan_;
  task.duets = 2;
  const auto result = measure_self_test(task, self_test, clock_);
  ASSERT_TRUE(result.ok()) << result.error().message();
  ASSERT_GT(prepared_.size(), 4u);
  EXPECT_EQ(prepared_[0], (Prepared{Side::base, "", 1, 0}));
  for (std::size_t i = 1; i < prepared_.size(); ++i) {
    EXPECT_EQ(prepared_[i].choices, "gemm\tengine 1\n");
    EXPECT_GE(prepared_[i].worker, 2);
  }
}

TEST_F(TunedGateTest, ASideThatCannotChooseFails) {
  side_scripts_[Side::base].wrong_element = 6;
  settle(plan_, evidence_);
  ASSERT_TRUE(evidence_.cases[0].failure);
  EXPECT_EQ(evidence_.cases[0].failure->side, Side::base);
  EXPECT_EQ(evidence_.cases[0].failure->outcome, Outcome::wrong_result);
  EXPECT_THAT(rounds_, IsEmpty());
}

TEST_F(GateTest, ADuetTakesTurnsAndSeesTheRatioExactly) {
  set_iteration_time(Side::base, 100us);
  set_iteration_time(Side::candidate, 103us);
  const Plan plan = plan_of({kSingleThread});
  const GateParts gate_parts = parts();
  WorkerSession base(gate_parts.start_base, gate_parts.hello, {}, clock_);
  WorkerSession candidate(gate_parts.start_candidate, gate_parts.hello, {}, clock_);
  DuetWorkers workers(base, candidate, gate_parts.pause);
  auto result = run_duet(workers, {&plan.cases[0]});
  ASSERT_TRUE(result.duet);
  EXPECT_THAT(result.duet->base, SizeIs(kMaxDuetRounds));
  EXPECT_THAT(result.duet->base, Each(Nanoseconds(100us)));
  EXPECT_THAT(result.duet->candidate, Each(Nanoseconds(103us)));
  EXPECT_DOUBLE_EQ(*log_ratio(*result.duet), std::log(103000.0) - std::log(100000.0));
  // Each round has one turn of each side; the order changes.
  ASSERT_THAT(rounds_, SizeIs(2 * kMaxDuetRounds));
  int base_first = 0;
  for (std::size_t i = 0; i < rounds_.size(); i += 2) {
    EXPECT_NE(rounds_[i], rounds_[i + 1]);
    base_first += rounds_[i] == Side::base ? 1 : 0;
  }
  EXPECT_GT(base_first, 0);
  EXPECT_LT(base_first, kMaxDuetRounds);
  EXPECT_THAT(pauses_, IsEmpty());  // one thread has no pool that must go to sleep between turns
}

TEST_F(GateTest, ThreadPoolsGetTimeToSleepBetweenTurns) {
  const Plan plan = plan_of({test::kFirst});
  GateEvidence evidence = evidence_for(plan);
  settle(plan, evidence);
  std::size_t turns = 0;
  for (const Duet& duet : evidence.cases[0].duets) turns += 2 * duet.base.size();
  EXPECT_THAT(pauses_, SizeIs(turns));
  EXPECT_GE(turns, 6U * 2 * kMinDuetRounds);
  EXPECT_THAT(pauses_, Each(kHandOverPause));
}

TEST_F(GateTest, ADuetTakesAsManyRoundsAsFitItsTime) {
  const Plan plan = plan_of({kSingleThread});
  const auto rounds = [&](Nanoseconds time) {
    set_iteration_time(Side::base, time);
    set_iteration_time(Side::candidate, time);
    GateEvidence evidence = evidence_for(plan);
    settle(plan, evidence);
    return static_cast<int>(evidence.cases[0].duets.at(0).base.size());
  };
  EXPECT_EQ(rounds(100us), kMaxDuetRounds);
  EXPECT_EQ(rounds(1ms), kDuetTime / (2 * 2 * 1ms));  // 20: two sides, each untimed, then timed
  EXPECT_EQ(rounds(20ms), kMinDuetRounds);
}

TEST_F(GateTest, BothSidesUseTheSameIterationsPerSample) {
  // Alone, the base would take 11 iterations per sample and the candidate 6.
  set_iteration_time(Side::base, 10us);
  set_iteration_time(Side::candidate, 20us);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  settle(plan, evidence);
  const Duet& duet = evidence.cases[0].duets.at(0);
  EXPECT_EQ(duet.iterations_per_sample, 11);
  EXPECT_EQ(duet.base.front(), 11 * 10us);
  EXPECT_EQ(duet.candidate.front(), 11 * 20us);
}

TEST_F(GateTest, AnObviouslySlowerCandidateIsARegressionAfterItsFirstDuets) {
  set_iteration_time(Side::base, 100us);
  set_iteration_time(Side::candidate, 150us);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression);
  EXPECT_EQ(decision.judgements[0].duets, 7);
  EXPECT_EQ(decision.judgements[0].confirmations, 0);  // the effect is obvious
  EXPECT_NEAR(*decision.judgements[0].effect, 0.5, 1e-9);
  EXPECT_EQ(workers_, 2 * 7);          // each duet of a case has two fresh processes
  EXPECT_THAT(lines_, SizeIs(1 + 7));  // the base's facts and every duet
  EXPECT_THAT(lines_[0], HasSubstr("\"base_side\""));
  EXPECT_THAT(lines_[1], HasSubstr("\"duet\""));
}

TEST_F(GateTest, ASlowerCandidateIsMeasuredConfirmedAndCalledARegression) {
  set_iteration_time(Side::base, 100us);
  set_iteration_time(Side::candidate, 105us);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression) << decision.judgements[0].reason;
  EXPECT_EQ(decision.judgements[0].confirmations, 10);
  EXPECT_EQ(evidence.stopped, std::nullopt);
}

TEST_F(GateTest, EqualSidesPassAfterTheFirstDuets) {
  const Plan plan = plan_of({kSingleThread, "gemm/forward/m8n4k4/f32/onednn/cpu/hot/t1"});
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(count(decision.judgements, Verdict::pass), 2U);
  EXPECT_THAT(evidence.cases[0].duets, SizeIs(6));
  EXPECT_EQ(workers_, 2 * 6);  // the two cases share their workers
  EXPECT_EQ(evidence.cases[0].base->implementation, "fake:reference");
}

TEST_F(GateTest, WorkersServeNoMoreCasesThanTheyMay) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kMaxCasesPerWorkers + 1; ++i) {
    ids.push_back(fmt::format("gemm/forward/m{}n4k4/f32/onednn/cpu/hot/t1", i + 1));
  }
  const Plan plan = plan_of(ids);
  const GateParts gate_parts = parts();
  WorkerSession base(gate_parts.start_base, gate_parts.hello, {}, clock_);
  WorkerSession candidate(gate_parts.start_candidate, gate_parts.hello, {}, clock_);
  DuetWorkers workers(base, candidate, gate_parts.pause);
  for (const Case& spec : plan.cases) ASSERT_TRUE(run_duet(workers, {&spec}).duet);
  EXPECT_EQ(workers_, 2 * 2);
  ASSERT_TRUE(run_duet(workers, {&plan.cases.back()}).duet);
  EXPECT_EQ(workers_, 2 * 3);  // no two duets of one case use the same workers
}

TEST_F(GateTest, CasesWithOtherThreadCountsUseOtherWorkers) {
  const Plan plan = plan_of({kSingleThread, test::kFirst});
  GateEvidence evidence = evidence_for(plan);
  settle(plan, evidence);
  EXPECT_EQ(workers_, 2 * 2 * 6);
}

// An earlier case may have left the process in a state that makes the next case crash.
TEST_F(GateTest, AFailureOfWorkersThatServedOtherCasesIsTriedAgainWithFreshOnes) {
  const Plan plan = plan_of({kSingleThread, "gemm/forward/m8n4k4/f32/onednn/cpu/hot/t1"});
  int prepared = 0;
  side_faults_[Side::candidate] = [&](const Request& request) -> std::optional<WorkerFailure> {
    // The second case in the first workers fails.
    if (!std::holds_alternative<PrepareRequest>(request) || ++prepared != 2) return std::nullopt;
    return WorkerFailure{WorkerFailure::Kind::crashed, "SIGSEGV"};
  };
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(count(decision.judgements, Verdict::pass), 2U);
  EXPECT_EQ(workers_, 2 * 6 + 2);
}

TEST_F(GateTest, RemainingTimeIsExtrapolatedFromThePaceSoFar) {
  set_iteration_time(Side::base, 1ms);
  set_iteration_time(Side::candidate, 1ms);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  GateParts gate_parts = parts();
  std::vector<std::pair<std::size_t, std::optional<Nanoseconds>>> steps;
  std::vector<Nanoseconds> times;
  gate_parts.progress = [&](const GateStep& step) {
    steps.emplace_back(step.steps_left, step.time_left);
    times.push_back(clock_.now());
  };
  const GateTask task{&plan, "run1", 1, std::nullopt};
  GateMeasurer measurer(task, gate_parts, clock_);
  ASSERT_TRUE(measurer.settle(evidence).ok());
  ASSERT_THAT(steps, SizeIs(6));
  EXPECT_EQ(steps[0], std::pair(std::size_t{6}, std::optional<Nanoseconds>()));
  EXPECT_EQ(steps[4].first, 2U);
  EXPECT_EQ(steps[4].second, (times[4] - times[0]) / 4 * 2);
  EXPECT_GT(measurer.spent_on_samples(), 6 * 2 * kDuetTime / 3);
  EXPECT_LT(measurer.spent_on_samples(), clock_.now() - times[0]);
}

TEST_F(GateTest, ABaseThatCrashesIsIncomparableACandidateThatCrashesIsAnError) {
  const Plan plan = plan_of({kSingleThread});
  const auto crash = [](const Request& request) -> std::optional<WorkerFailure> {
    if (!std::holds_alternative<WarmUpRequest>(request)) return std::nullopt;
    return WorkerFailure{WorkerFailure::Kind::crashed, "SIGSEGV"};
  };
  side_faults_[Side::base] = crash;
  GateEvidence evidence = evidence_for(plan);
  const Decision died = settle(plan, evidence);
  EXPECT_EQ(died.judgements[0].verdict, Verdict::incomparable);
  EXPECT_TRUE(died.judgements[0].cut_short);
  EXPECT_EQ(conclude(evidence, died.judgements, {}).status, ExitStatus::not_measured);
  side_faults_ = {{Side::candidate, crash}};
  evidence = evidence_for(plan);
  const CaseAssessment judgement = settle(plan, evidence).judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::error);
  EXPECT_EQ(judgement.reason, "crashed: SIGSEGV");
}

TEST_F(GateTest, ABaseThatNoLongerStartsMakesItsCasesIncomparable) {
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  GateParts gate_parts = parts();
  gate_parts.start_base = [](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
    return Error{"no such program", "/old/bench", ""};
  };
  const GateTask task{&plan, "run1", 1, std::nullopt};
  GateMeasurer measurer(task, gate_parts, clock_);
  const auto decision = measurer.settle(evidence);
  ASSERT_TRUE(decision.ok());
  EXPECT_EQ(decision->judgements[0].verdict, Verdict::incomparable);
  EXPECT_THAT(decision->judgements[0].reason, HasSubstr("no such program"));
  EXPECT_EQ(conclude(evidence, decision->judgements, {}).status, ExitStatus::not_measured);
}

TEST_F(GateTest, ABaseThatComputesSomethingElseIsIncomparable) {
  side_scripts_[Side::base].wrong_element = 3;
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  const CaseAssessment judgement = settle(plan, evidence).judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::incomparable);
  EXPECT_THAT(judgement.reason, HasSubstr("the base computed a wrong result"));
}

TEST_F(GateTest, ACandidateThatStopsComputingIsAnError) {
  side_scripts_[Side::candidate].computes_until = 3;
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::error);
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("wrong_result: after the samples: "));
  EXPECT_THAT(evidence.cases[0].duets, IsEmpty());
}

// The base passed its number of iterations to the candidate, which then timed out.
TEST_F(GateTest, TheIterationsOfOneSideDoNotMakeTheSamplesOfTheOtherLong) {
  set_iteration_time(Side::base, 0ns);  // 1,000,000 iterations per sample
  set_iteration_time(Side::candidate, 200us);
  const Plan plan = plan_of({kSingleThread});
  const GateParts gate_parts = parts();
  WorkerSession base(gate_parts.start_base, gate_parts.hello, {}, clock_);
  WorkerSession candidate(gate_parts.start_candidate, gate_parts.hello, {}, clock_);
  DuetWorkers workers(base, candidate, gate_parts.pause);
  const auto result = run_duet(workers, {&plan.cases[0]});
  ASSERT_TRUE(result.duet);
  EXPECT_EQ(result.duet->iterations_per_sample, kLongSample / 200us);
  EXPECT_THAT(result.duet->candidate, Each(kLongSample));
}

// A candidate whose stage 1 succeeded, but whose duets it refused, was INCOMPARABLE and green.
TEST_F(GateTest, ACandidateThatRefusesItsDuetsIsAnError) {
  for (const auto kind : {ops::BackendError::Kind::unsupported, ops::BackendError::Kind::skipped}) {
    side_scripts_[Side::candidate].backend_error = ops::BackendError{kind, "not today"};
    const Plan plan = plan_of({kSingleThread});
    GateEvidence evidence = evidence_for(plan);
    const Decision decision = settle(plan, evidence);
    EXPECT_EQ(decision.judgements[0].verdict, Verdict::error) << decision.judgements[0].reason;
    EXPECT_EQ(conclude(evidence, decision.judgements, {}).status, ExitStatus::not_measured);
  }
}

// A worker that never answers. It waits until its caller no longer wants the answer.
class SilentWorker final : public WorkerLink {
 public:
  explicit SilentWorker(test::FakeClock& clock) : clock_(clock) {}
  Result<ReplyMessage, WorkerFailure> call(const Request&, Nanoseconds limit,
                                           const std::function<bool()>& interrupted) override {
    for (Nanoseconds waited{0}; waited < limit; waited += 100ms) {
      if (interrupted && interrupted())
        return WorkerFailure{WorkerFailure::Kind::interrupted, "interrupted"};
      clock_.advance(100ms);
    }
    return WorkerFailure{WorkerFailure::Kind::timed_out, "no answer"};
  }
  Nanoseconds finish() override { return 0ns; }

 private:
  test::FakeClock& clock_;
};

// `--budget 12s` ended after 30 s.
TEST_F(GateTest, TheBudgetBoundsTheWaitForASilentSide) {
  for (const Side silent : {Side::base, Side::candidate}) {
    const Plan plan = plan_of({kSingleThread});
    GateEvidence evidence = evidence_for(plan);
    GateParts gate_parts = parts();
    WorkerFactory& start =
        silent == Side::base ? gate_parts.start_base : gate_parts.start_candidate;
    start = [this](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
      return std::unique_ptr<WorkerLink>(std::make_unique<SilentWorker>(clock_));
    };
    const GateTask task{&plan, "run1", 1, 5s};
    const Nanoseconds before = clock_.now();
    GateMeasurer measurer(task, gate_parts, clock_);
    const auto decision = measurer.settle(evidence);
    ASSERT_TRUE(decision.ok());
    EXPECT_LE(clock_.now() - before, 5s + kBudgetGrace + 1s);
    EXPECT_EQ(evidence.stopped, StopCause::budget);
    EXPECT_FALSE(evidence.cases[0].failure);  // the budget ended the wait, not the side
    EXPECT_EQ(conclude(evidence, decision->judgements, {}).status, ExitStatus::not_measured);
  }
}

TEST_F(GateTest, TheEndOfTheBudgetLeavesCasesUndecided) {
  set_iteration_time(Side::base, 1ms);
  set_iteration_time(Side::candidate, 2ms);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  const Decision decision = settle(plan, evidence, 300ms);
  EXPECT_LT(evidence.cases[0].duets.size(), 7U);
  EXPECT_EQ(evidence.stopped, StopCause::budget);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_TRUE(decision.judgements[0].cut_short);
  EXPECT_EQ(decision.judgements[0].reason, fmt::format("stopped by the budget after {} of 6 duets",
                                                       evidence.cases[0].duets.size()));
}

TEST_F(GateTest, CtrlCLeavesCasesUndecided) {
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  GateParts gate_parts = parts();
  gate_parts.interrupted = [this] { return lines_.size() > 4; };
  const GateTask task{&plan, "run1", 1, std::nullopt};
  GateMeasurer measurer(task, gate_parts, clock_);
  const auto decision = measurer.settle(evidence);
  ASSERT_TRUE(decision.ok());
  EXPECT_EQ(evidence.stopped, StopCause::interruption);
  EXPECT_EQ(decision->judgements[0].reason, "stopped by Ctrl-C after 4 of 6 duets");
  EXPECT_EQ(conclude(evidence, decision->judgements, {}).status, ExitStatus::not_measured);
}

TEST_F(GateTest, TheEndOfTheBudgetLeavesTheFirstGroupWhollyDecided) {
  set_iteration_time(Side::base, 100us);
  set_iteration_time(Side::candidate, 105us);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 2 * kInterleavedCases; ++i) {
    ids.push_back(fmt::format("gemm/forward/m{}n4k4/f32/onednn/cpu/hot/t1", i + 1));
  }
  const Plan first = plan_of({ids.begin(), ids.begin() + kInterleavedCases});
  GateEvidence evidence = evidence_for(first);
  const Nanoseconds before = clock_.now();
  settle(first, evidence);
  const Nanoseconds needed = clock_.now() - before;

  const Plan all = plan_of(ids);
  evidence = evidence_for(all);
  const Decision decision = settle(all, evidence, needed);
  EXPECT_EQ(count(decision.judgements, Verdict::regression), kInterleavedCases);
  EXPECT_THAT(evidence.cases[kInterleavedCases].duets, IsEmpty());
  EXPECT_THAT(decision.judgements[kInterleavedCases].reason,
              HasSubstr("stopped by the budget after 0 of 6 duets"));
}

TEST_F(GateTest, WithoutABaseWindowsAreSeparatedByPauses) {
  set_iteration_time(Side::candidate, 150us);
  const Plan plan = plan_of({kSingleThread});
  GateEvidence evidence = evidence_for(plan);
  evidence.mode = GateEvidence::Mode::store_only;
  evidence.cases[0].candidate.processes = {process_from_iteration(150us)};
  StoredEvidence stored;
  stored.runs = 6;
  stored.log_level = std::log(100000.0);
  stored.sigma = 0.004;
  stored.q99 = 0.02;
  evidence.cases[0].stored = stored;
  const Decision decision = settle(plan, evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression);
  ASSERT_THAT(evidence.cases[0].windows, SizeIs(3));
  EXPECT_THAT(evidence.cases[0].windows[0].processes, SizeIs(7));
  EXPECT_THAT(pauses_, SizeIs(2));
  EXPECT_THAT(lines_, SizeIs(3));
}

// Both sides run on a device whose clock is lower for the candidate.
class DeviceGateTest : public GateTest {
 protected:
  void scripted(Side side, std::function<ops::DeviceSample()> sample) {
    side_scripts_[side].sample = [this, sample](std::int64_t, const ops::SampleRequest&) {
      clock_.advance(std::chrono::microseconds(200));
      return Result<ops::DeviceSample>(sample());
    };
  }
  static ops::DeviceSample at(std::int64_t clock_hz) {
    ops::DeviceSample sample;
    sample.device = 150us;
    sample.clock_hz = clock_hz;
    return sample;
  }
};

TEST_F(DeviceGateTest, DuetsHaveTheClocksOfBothSides) {
  scripted(Side::base, [] { return at(1'700'000'000); });
  scripted(Side::candidate, [] { return at(1'600'000'000); });
  const Plan plan = test::make_plan({test::make_case(kSingleThread, {}, test::kShortWarmup)});
  GateEvidence evidence = evidence_for(plan);
  settle(plan, evidence);
  ASSERT_FALSE(evidence.cases[0].duets.empty());
  for (const Duet& duet : evidence.cases[0].duets) {
    EXPECT_EQ(duet.base_clock_hz, std::vector<std::int64_t>(duet.base.size(), 1'700'000'000));
    EXPECT_EQ(duet.candidate_clock_hz,
              std::vector<std::int64_t>(duet.candidate.size(), 1'600'000'000));
  }
  EXPECT_THAT(lines_, testing::Contains(HasSubstr("\"candidate_clock_hz\":[1600000000,")));
}

TEST_F(DeviceGateTest, ASideWithOnlyDiscardedSamplesFails) {
  scripted(Side::base, [] { return at(1'700'000'000); });
  scripted(Side::candidate, [] {
    ops::DeviceSample sample = at(1'600'000'000);
    sample.verdict = ops::SampleVerdict::voided;
    sample.reason = "hot";
    return sample;
  });
  const Plan plan = test::make_plan({test::make_case(kSingleThread, {}, test::kShortWarmup)});
  GateEvidence evidence = evidence_for(plan);
  settle(plan, evidence);
  ASSERT_TRUE(evidence.cases[0].failure);
  EXPECT_EQ(evidence.cases[0].failure->side, Side::candidate);
  EXPECT_EQ(evidence.cases[0].failure->reason, "all 18 samples were discarded, most often: hot");
}

}  // namespace
}  // namespace bench
