// SPDX-License-Identifier: Apache-2.0
#include "harness/run/coordinator.hpp"

#include "harness/result/measured.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/wire/messages.hpp"
#include "tests/fakes/coordinator_fixture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::CoordinatorTest;
using test::FakeScript;
using test::kFirst;
using test::kSecond;
using test::kSetup;
using test::kShortWarmup;
using test::measure;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CoordinatorTest, MeasuresEveryCaseInEveryProcess) {
  const Plan plan = test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                                     test::make_case(kSecond, measure(5), kShortWarmup)});
  const RunSummary summary = run(plan);
  EXPECT_EQ(workers_, 5);
  EXPECT_EQ(sink_.records.size(), 1u + 10u + 2u + 1u);
  EXPECT_TRUE(std::holds_alternative<RunRecord>(sink_.records.front()));
  EXPECT_TRUE(std::holds_alternative<EndRecord>(sink_.records.back()));
  std::map<std::string, std::set<int>> numbers;
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) {
    numbers[process.id].insert(process.process);
    EXPECT_EQ(process.samples, std::vector<Nanoseconds>(20, 60us));
    EXPECT_EQ(process.iterations_per_sample, 1);
    EXPECT_EQ(process.warmup_iterations, 3);
    EXPECT_EQ(process.stop, StopReason::precision);
    EXPECT_TRUE(process.steady);
    EXPECT_EQ(process.preparation.create, 5000ns);
    EXPECT_EQ(process.preparation.create_hit, 50ns);
    EXPECT_EQ(process.preparation.reorder, 400ns);
    EXPECT_EQ(process.preparation.first_run, 60us);
    EXPECT_EQ(process.run_id, "run1");
  }
  EXPECT_EQ(numbers[kFirst], (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers[kSecond], (std::set<int>{0, 1, 2, 3, 4}));
  const Accounting& time = summary.end.accounting;
  EXPECT_EQ(time.timed, 10 * 20 * 60us);
  EXPECT_EQ(time.warmup, 10 * 3 * 60us);
  EXPECT_EQ(time.setup, 10 * kSetup);
  EXPECT_EQ(time.check, 10 * 60us);  // one run after the samples
  EXPECT_EQ(time.idle, 0ns);
  EXPECT_EQ(time.wall, time.timed + time.warmup + time.setup + time.check);
  EXPECT_EQ(summary.end.exit, 0);
  EXPECT_FALSE(summary.any_failed);
}

TEST_F(CoordinatorTest, CaseRecordsStandInTheOrderOfThePlanWithTheirSummary) {
  Plan plan = test::make_plan({test::make_case(kSecond, measure(5), kShortWarmup),
                               test::make_case(kFirst, measure(5), kShortWarmup)});
  plan.cases[0].memberships = {{"net", {"a", "b"}}, {"other", {"c"}}};
  plan.cases[1].count = 312;
  run(plan);
  const auto records = sink_.all<CaseRecord>();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].id, kSecond);
  EXPECT_EQ(records[0].outcome, Outcome::ok);
  EXPECT_EQ(records[0].source, "test.yaml:3");
  EXPECT_EQ(records[0].network, "net");
  EXPECT_EQ(records[0].multiplicity, 2);
  EXPECT_EQ(records[0].networks.size(), 2u);
  EXPECT_EQ(records[1].multiplicity, 312);
  EXPECT_EQ(records[0].implementation, "fake:reference");
  EXPECT_EQ(records[0].time->median, 60us);
  EXPECT_EQ(records[0].work->macs, 8 * 4 * 4);
  EXPECT_TRUE(records[0].memory.has_value());
  EXPECT_THAT(*records[0].check, StartsWith("full, 32 elements"));
  EXPECT_EQ(records[1].id, kFirst);
  EXPECT_FALSE(records[1].network.has_value());
  EXPECT_THAT(observer_.finished, ElementsAre(kSecond, kFirst));
}

// As docs/configuration.md says. `list` shows the multiplicity of the same facts.
TEST_F(CoordinatorTest, TheNumberOfLayersCountsInsteadOfAStatedMultiplicity) {
  Case spec = test::make_case(kFirst, measure(1), kShortWarmup);
  spec.count = 312;
  EXPECT_EQ(case_facts(spec).multiplicity, 312);
  spec.memberships = {{"net", {"a", "b"}}};
  EXPECT_EQ(case_facts(spec).multiplicity, 2);
}

TEST_F(CoordinatorTest, TheRunRecordNamesLibraryAndArena) {
  run(test::make_plan({test::make_case(kFirst, measure(1), kShortWarmup)}));
  const RunRecord record = sink_.all<RunRecord>().at(0);
  EXPECT_EQ(record.config_hash, "0123456789abcdef");
  EXPECT_EQ(record.environment.machine_class, "test-2c");
  EXPECT_EQ(record.environment.libraries.at("fake"), "1.2.3");
  EXPECT_EQ(record.environment.details.at("library.fake.path"), "/opt/libfake.so");
  EXPECT_TRUE(record.environment.details.contains("arena.bytes"));
  EXPECT_EQ(record.started, "2026-11-21T08:00:00Z");
}

TEST_F(CoordinatorTest, NoisyCasesUseUpTheirShareOfMaxTime) {
  scripts_["m4n4k4"].run = [](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; };
  run(test::make_plan({test::make_case(kFirst, measure(2, 12ms), kShortWarmup)}));
  const auto processes = sink_.all<ProcessRecord>();
  ASSERT_EQ(processes.size(), 2u);
  for (const ProcessRecord& process : processes) {
    EXPECT_EQ(process.stop, StopReason::max_time);
    EXPECT_EQ(process.samples.size(), 80u);  // 75 us on average: 6 ms
    EXPECT_FALSE(process.steady);
  }
}

TEST_F(CoordinatorTest, LongCasesEndBeforeTheMinimumOfIterations) {
  scripts_["m4n4k4"].run = [](std::int64_t) { return 300ms; };
  run(test::make_plan({test::make_case(kFirst, measure(2, 1s), kShortWarmup)}));
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) {
    EXPECT_EQ(process.samples, std::vector<Nanoseconds>(2, 300ms));  // share 500 ms
    EXPECT_EQ(process.stop, StopReason::max_time);
  }
}

TEST_F(CoordinatorTest, AFailedWorkerCostsItsCaseOnly) {
  int rounds = 0;
  fault_ = [&](const Request& request) -> std::optional<WorkerFailure> {
    if (!std::holds_alternative<RoundRequest>(request) || ++rounds != 1) return std::nullopt;
    clock_.advance(7us);
    return WorkerFailure{WorkerFailure::Kind::crashed, "SIGSEGV"};
  };
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(3), kShortWarmup),
                           test::make_case(kSecond, measure(3), kShortWarmup)}));
  const auto records = cases();
  int crashed = 0;
  for (const auto& [id, record] : records) {
    if (record.outcome == Outcome::ok) continue;
    ++crashed;
    EXPECT_EQ(record.outcome, Outcome::crashed);
    EXPECT_EQ(record.reason, "SIGSEGV");
    EXPECT_FALSE(record.time.has_value());
  }
  EXPECT_EQ(crashed, 1);
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 3u);
  EXPECT_TRUE(summary.any_failed);
  EXPECT_EQ(summary.end.exit, 3);
  EXPECT_EQ(workers_, 4);  // three, one of them replaced
  EXPECT_EQ(summary.end.accounting.timed, 3 * 20 * 60us + 7us);
  EXPECT_EQ(summary.end.accounting.idle, 0ns);
}

TEST_F(CoordinatorTest, RefusalsAndTimeoutsBecomeOutcomes) {
  scripts_["m4n4k4"].wrong_element = 0;
  scripts_["m8n4k4"].backend_error =
      ops::BackendError{ops::BackendError::Kind::unsupported, "no bf16"};
  const std::string third = "gemm/forward/m2n4k4/f32/onednn/cpu/hot";
  scripts_["m2n4k4"].fails_at = 5;
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup),
                           test::make_case(kSecond, measure(2), kShortWarmup),
                           test::make_case(third, measure(2), kShortWarmup)}));
  const auto records = cases();
  EXPECT_EQ(records.at(kFirst).outcome, Outcome::wrong_result);
  EXPECT_THAT(*records.at(kFirst).reason, HasSubstr("[0,0]: got"));
  EXPECT_EQ(records.at(kSecond).outcome, Outcome::unsupported);
  EXPECT_EQ(records.at(kSecond).reason, "no bf16");
  EXPECT_EQ(records.at(third).outcome, Outcome::failed);
  EXPECT_EQ(records.at(third).reason, "scripted failure");
  EXPECT_TRUE(sink_.all<ProcessRecord>().empty());
  EXPECT_TRUE(summary.any_failed);
  EXPECT_FALSE(summary.any_unmeasured);
}

TEST_F(CoordinatorTest, ACaseWhoseKernelStopsComputingIsAWrongResultWithoutATime) {
  scripts_["m4n4k4"].computes_until = 3;
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup),
                           test::make_case(kSecond, measure(2), kShortWarmup)}));
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::wrong_result);
  EXPECT_THAT(*record.reason, HasSubstr("after the samples: "));
  EXPECT_FALSE(record.time);
  EXPECT_EQ(cases().at(kSecond).outcome, Outcome::ok);
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) EXPECT_EQ(process.id, kSecond);
  EXPECT_TRUE(summary.any_failed);
}

TEST_F(CoordinatorTest, AbsentDevicesAndProcessorsNeedNoWorker) {
  const std::string cuda = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";
  const std::string wide = std::string(kFirst) + "/t3";
  const RunSummary summary =
      run(test::make_plan({test::make_case(cuda, measure(2)), test::make_case(wide, measure(2))}));
  EXPECT_EQ(workers_, 0);
  EXPECT_EQ(cases().at(cuda).outcome, Outcome::skipped);
  EXPECT_EQ(cases().at(cuda).reason, "no CUDA device: none");
  EXPECT_EQ(cases().at(wide).reason, "3 threads requested, 2 processors may be used");
  EXPECT_EQ(summary.end.exit, 0);
  EXPECT_EQ(sink_.all<RunRecord>().size(), 1u);
}

TEST_F(CoordinatorTest, TheBudgetNamesWhatItLeftOut) {
  options_.budget = 200us;  // the first step's setup and warm-up take more
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                           test::make_case(kSecond, measure(5), kShortWarmup)}));
  ASSERT_EQ(sink_.all<ProcessRecord>().size(), 1u);
  EXPECT_EQ(sink_.all<ProcessRecord>()[0].stop, StopReason::budget);
  EXPECT_EQ(sink_.all<ProcessRecord>()[0].samples, std::vector<Nanoseconds>(1, 60us));
  EXPECT_EQ(summary.end.not_measured, 1);
  EXPECT_EQ(summary.end.exit, 3);
  EXPECT_EQ(format_stop(summary),
            "stopped by the budget: 2 of 2 cases have fewer processes than asked for, 1 of them "
            "none");
  EXPECT_FALSE(summary.end.interrupted);
  int measured = 0;
  for (const auto& [id, record] : cases()) {
    if (record.outcome == Outcome::ok) {
      ++measured;
      EXPECT_THAT(record.flags, testing::Contains(Flag::interrupted));
      EXPECT_EQ(record.details.at("processes"), "1 of 5");
    } else {
      EXPECT_EQ(record.outcome, Outcome::skipped);
      EXPECT_THAT(*record.reason, StartsWith("the budget of the run ended (200"));
    }
  }
  EXPECT_EQ(measured, 1);
}

TEST_F(CoordinatorTest, ABudgetIsSharedSoThatEveryCaseGetsItsFirstProcess) {
  for (const char* tokens : {"m4n4k4", "m8n4k4"}) {
    scripts_[tokens].run = [](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; };
  }
  options_.budget = 20ms;
  run(test::make_plan({test::make_case(kFirst, measure(1, 1s), kShortWarmup),
                       test::make_case(kSecond, measure(1, 1s), kShortWarmup)}));
  const auto processes = sink_.all<ProcessRecord>();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].stop, StopReason::budget);
  EXPECT_EQ(processes[1].stop, StopReason::budget);
}

// Every case has a time, but the run did not complete what was requested.
TEST_F(CoordinatorTest, RunsThatTheBudgetLeavesWithFewerProcessesAreNotMeasured) {
  options_.budget = 4ms;  // a step takes 65.45 + 180 + 1200 us
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                           test::make_case(kSecond, measure(2), kShortWarmup)}));
  EXPECT_EQ(summary.end.not_measured, 0);
  EXPECT_EQ(summary.fewer_processes, 1);
  EXPECT_TRUE(summary.any_unmeasured);
  EXPECT_EQ(summary.end.exit, 3);
  EXPECT_EQ(sink_.all<EndRecord>().at(0).exit, 3);
  EXPECT_EQ(format_stop(summary),
            "stopped by the budget: 1 of 2 cases has fewer processes than asked for");
}

TEST_F(CoordinatorTest, ProcessesThatTheirOwnStopRuleEndsAreNotMissing) {
  scripts_["m4n4k4"].run = [](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; };
  options_.budget = 10s;
  const RunSummary summary = run(test::make_plan(
      {test::make_case(kFirst, measure(2, 3ms), kShortWarmup),  // ends by max_time
       test::make_case(kSecond, measure(2), kShortWarmup)}));   // ends by its precision
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 4u);
  EXPECT_EQ(summary.fewer_processes, 0);
  EXPECT_FALSE(summary.any_unmeasured);
  EXPECT_EQ(summary.end.exit, 0);
  EXPECT_EQ(format_stop(summary), "");
}

TEST_F(CoordinatorTest, ALastProcessThatAnInterruptCutsShortIsMissing) {
  scripts_["m4n4k4"].run = [](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; };
  options_.interrupted = [this] { return clock_.now() >= 4ms; };
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(1, 1s), kShortWarmup)}));
  ASSERT_EQ(sink_.all<ProcessRecord>().size(), 1u);
  EXPECT_EQ(sink_.all<ProcessRecord>()[0].stop, StopReason::interrupted);
  EXPECT_EQ(summary.end.exit, 3);
  EXPECT_EQ(format_stop(summary),
            "stopped by Ctrl-C: 1 of 1 case has fewer processes than asked for");
}

TEST_F(CoordinatorTest, AnInterruptKeepsWhatIsFinished) {
  options_.interrupted = [this] { return clock_.now() >= 4ms; };
  const RunSummary summary =
      run(test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                           test::make_case(kSecond, measure(5), kShortWarmup)}));
  EXPECT_TRUE(summary.end.interrupted);
  // A step takes 65.45 + 180 + 1200 us: two are complete, the third is aborted in its only round.
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 2u);
  for (const auto& [id, record] : cases()) {
    EXPECT_EQ(record.outcome, Outcome::ok);
    EXPECT_THAT(record.flags, testing::Contains(Flag::interrupted));
  }
  EXPECT_EQ(cases().size(), 2u);
  EXPECT_EQ(summary.end.not_measured, 0);
  EXPECT_EQ(summary.end.exit, 3);
  EXPECT_EQ(format_stop(summary),
            "stopped by Ctrl-C: 2 of 2 cases have fewer processes than asked for");
}

TEST_F(CoordinatorTest, ResumingMeasuresWhatIsMissing) {
  const Plan plan = test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                                     test::make_case(kSecond, measure(5), kShortWarmup)});
  options_.interrupted = [this] { return clock_.now() >= 7ms; };
  run(plan);
  Report report;
  report.runs = sink_.all<RunRecord>();
  report.processes = sink_.all<ProcessRecord>();
  report.cases = sink_.all<CaseRecord>();
  const auto before = report.processes.size();
  ASSERT_EQ(before, 4u);

  sink_.records.clear();
  options_.interrupted = nullptr;
  options_.resume = &report;
  options_.run_id = "run2";
  const RunSummary summary = run(plan);
  EXPECT_EQ(sink_.all<RunRecord>().at(0).resumes, "run1");
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 10u - before);
  std::set<std::pair<std::string, int>> pairs;
  for (const ProcessRecord& record : report.processes) pairs.emplace(record.id, record.process);
  for (const ProcessRecord& record : sink_.all<ProcessRecord>()) {
    EXPECT_TRUE(pairs.emplace(record.id, record.process).second);
  }
  EXPECT_EQ(pairs.size(), 10u);
  for (const auto& [id, record] : cases()) {
    EXPECT_TRUE(record.flags.empty());
    EXPECT_EQ(record.time->confidence, 0.9375);
  }
  EXPECT_EQ(cases().size(), 2u);
  EXPECT_EQ(summary.end.exit, 0);

  // The third run has nothing left to do.
  report.cases = sink_.all<CaseRecord>();
  sink_.records.clear();
  const int workers = workers_;
  run(plan);
  EXPECT_EQ(workers_, workers);
  EXPECT_TRUE(sink_.all<CaseRecord>().empty());
}

// Regression test: processes of a slower environment used to complete a case without a word.
TEST_F(CoordinatorTest, ProcessesOfAnotherEnvironmentAreMeasuredAgain) {
  const Plan plan = test::make_plan({test::make_case(kFirst, measure(5), kShortWarmup),
                                     test::make_case(kSecond, measure(5), kShortWarmup)});
  options_.interrupted = [this] { return clock_.now() >= 7ms; };
  run(plan);
  Report report;
  report.runs = sink_.all<RunRecord>();
  report.processes = sink_.all<ProcessRecord>();
  report.cases = sink_.all<CaseRecord>();
  ASSERT_EQ(report.processes.size(), 4u);

  sink_.records.clear();
  options_.interrupted = nullptr;
  options_.resume = &report;
  options_.run_id = "run2";
  parts_.environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
  run(plan);
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 10u);
  EXPECT_THAT(observer_.messages,
              testing::Contains("4 processes of unfinished cases were measured in another "
                                "environment (env.ONEDNN_MAX_CPU_ISA was not set and is `SSE41`) "
                                "and not used: they are measured again"));
  for (const auto& [id, record] : cases()) {
    EXPECT_TRUE(record.flags.empty());
    EXPECT_EQ(record.run_id, "run2");
  }
  // Readers of the file do not mix them either.
  Report whole = report;
  whole.runs.push_back(sink_.all<RunRecord>().at(0));
  for (const ProcessRecord& process : sink_.all<ProcessRecord>())
    whole.processes.push_back(process);
  whole.cases = sink_.all<CaseRecord>();
  for (const MeasuredCase& measured : measured_cases(whole)) {
    EXPECT_EQ(measured.processes.size(), 5u);
  }
}

TEST_F(CoordinatorTest, FactsLostWithAKilledRunAreFoundAgain) {
  const Plan plan = test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup)});
  run(plan);
  Report report;  // killed between the last process and its case record
  report.runs = sink_.all<RunRecord>();
  report.processes = sink_.all<ProcessRecord>();
  sink_.records.clear();
  options_.resume = &report;
  run(plan);
  EXPECT_TRUE(sink_.all<ProcessRecord>().empty());
  EXPECT_TRUE(cases().at(kFirst).memory.has_value());
  EXPECT_TRUE(cases().at(kFirst).flags.empty());
}

TEST_F(CoordinatorTest, AnotherConfigurationIsNotResumed) {
  Report report;
  report.runs.emplace_back().config_hash = "ffff";
  options_.resume = &report;
  const auto summary =
      execute_plan_with(test::make_plan({}), options_, parts_, sink_, observer_, environment_.env);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().message(),
              HasSubstr("configuration ffff, but this is 0123456789abcdef"));
}

TEST_F(CoordinatorTest, AWorkerThatDoesNotStartEndsTheRun) {
  fault_ = [](const Request&) {
    return WorkerFailure{WorkerFailure::Kind::failed, "exit status 127"};
  };
  const auto summary = execute_plan_with(test::make_plan({test::make_case(kFirst, measure(1))}),
                                         options_, parts_, sink_, observer_, environment_.env);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().message(), "/opt/bench: no worker: exit status 127");
}

TEST_F(CoordinatorTest, AnEmptyPlanIsARun) {
  const RunSummary summary = run(test::make_plan({}));
  EXPECT_EQ(sink_.records.size(), 2u);
  EXPECT_EQ(summary.end.exit, 0);
}

// Records what the progress line shows, and when.
class TimeLeftObserver final : public RunObserver {
 public:
  explicit TimeLeftObserver(Clock& clock) : clock_(clock) {}
  void step(std::int64_t, std::int64_t, const std::string&,
            std::optional<Nanoseconds> remaining) override {
    steps.emplace_back(clock_.now(), remaining.value_or(Nanoseconds(-1)));
  }
  void case_finished(const CaseRecord&) override {}
  void message(const std::string&) override {}

  std::vector<std::pair<Nanoseconds, Nanoseconds>> steps;

 private:
  Clock& clock_;
};

// "about 1:07 left" became 0:19 from one line to the next. The start of the first worker counted as
// the pace of all steps. Before that, only the budget was known.
TEST_F(CoordinatorTest, TheTimeLeftIsKnownFromTheFirstStepOnAndNeverJumps) {
  std::vector<Case> cases;
  Measure precise = measure(5, 500ms);
  precise.precision = 1e-4;
  for (const int m : {4, 8, 12, 16, 20, 24, 28, 32}) {
    const std::string tokens = fmt::format("m{}n4k4", m);
    // Noisy, so that each process uses its share of 100 ms; creation takes longer than expected.
    scripts_[tokens].run = [](std::int64_t n) { return n % 2 == 0 ? 600us : 900us; };
    scripts_[tokens].create = 60ms;
    cases.push_back(test::make_case(fmt::format("gemm/forward/{}/f32/onednn/cpu/hot", tokens),
                                    precise, kShortWarmup));
  }
  TimeLeftObserver observer(clock_);
  const auto summary = execute_plan_with(test::make_plan(std::move(cases)), options_, parts_, sink_,
                                         observer, environment_.env);
  ASSERT_TRUE(summary.ok());
  const Nanoseconds end = clock_.now();
  ASSERT_EQ(observer.steps.size(), 40u);
  for (std::size_t i = 0; i < observer.steps.size(); ++i) {
    const auto [now, left] = observer.steps[i];
    const Nanoseconds truth = end - now;
    EXPECT_GT(left, truth / 2) << i;
    EXPECT_LT(left, truth * 2) << i;
    if (i == 0) continue;
    const auto [earlier, before] = observer.steps[i - 1];
    // Each step of 0.16 s reduces it by about as much. The first ones show that the pace is slower.
    EXPECT_LT(left, before + 320ms) << i;
    EXPECT_GT(left, before - (now - earlier) - 160ms) << i;
  }
}

class BrokenSink final : public RecordSink {
 public:
  explicit BrokenSink(int whole) : left_(whole) {}
  Status append(const Record&) override {
    if (left_-- > 0) return Done{};
    return Error{"no space left on device", "out.jsonl", ""};
  }
  Status append_activity(std::string_view) override { return Done{}; }

 private:
  int left_;
};

TEST_F(CoordinatorTest, AFullDiskEndsTheRunAtAnyRecord) {
  const Plan plan = test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup)});
  for (int whole = 0; whole < 5; ++whole) {
    BrokenSink sink(whole);
    const auto summary =
        execute_plan_with(plan, options_, parts_, sink, observer_, environment_.env);
    ASSERT_FALSE(summary.ok()) << whole;
    EXPECT_EQ(summary.error().message(), "out.jsonl: no space left on device");
  }
}

}  // namespace
}  // namespace bench
