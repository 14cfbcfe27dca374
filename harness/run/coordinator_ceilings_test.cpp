// SPDX-License-Identifier: Apache-2.0
#include "harness/run/coordinator.hpp"
#include "tests/fakes/coordinator_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::CoordinatorTest;
using test::kFirst;
using test::kShortWarmup;
using test::measure;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Takes the place of a loop: the fake worker has no backend but oneDNN's.
constexpr const char* kLoop = test::kSecond;

Plan one_case() { return test::make_plan({test::make_case(kFirst, measure(1), kShortWarmup)}); }

TEST_F(CoordinatorTest, StoredCeilingsGiveEachCaseItsRoofline) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{128e9 / 30'000}}};
  parts_.calibration = {{{kLoop, "fma_avx2_f32", "", 1}, test::make_case(kLoop)}};
  run(one_case());
  const CaseRecord record = cases().at(kFirst);
  ASSERT_TRUE(record.roofline);
  EXPECT_EQ(record.roofline->source, CeilingSource::stored);
  EXPECT_EQ(record.roofline->bound, Bound::compute);
  EXPECT_EQ(record.roofline->ideal, 30us);
  EXPECT_DOUBLE_EQ(record.roofline->efficiency, 0.5);
  EXPECT_THAT(observer_.messages, Not(Contains(HasSubstr("ceilings"))));
}

TEST_F(CoordinatorTest, CasesFasterThanTheCeilingHaveTheFlag) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{128e9 / 64'000}}};
  run(one_case());
  EXPECT_THAT(cases().at(kFirst).flags, ElementsAre(Flag::above_ceiling));
}

// Such a case was `ok` with 426471 % of the ceiling, and the run exited with 0.
TEST_F(CoordinatorTest, ACaseMuchFasterThanTheCeilingHasFailed) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{128e9 / 100'000}}};
  const RunSummary summary = run(one_case());
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(record.reason.value_or(""),
              HasSubstr("its time is impossible: an iteration took 60.00 us, but the ceilings of "
                        "this machine permit 100.0 us at best"));
  EXPECT_FALSE(record.time);
  EXPECT_TRUE(summary.any_failed);
  EXPECT_EQ(summary.end.exit, static_cast<int>(ExitStatus::not_measured));
}

TEST_F(CoordinatorTest, WithoutStoredCeilingsTheRunIsCalibratedFirst) {
  scripts_["m8n4k4"].run = [](std::int64_t n) { return n % 2 == 0 ? 60us : 90us; };
  parts_.calibration = {
      {{kLoop, "fma_avx2_f32", "", 1}, test::make_case(kLoop, measure(1, 1ms), {1, 0ns})}};
  run(one_case());
  const CaseRecord record = cases().at(kFirst);
  ASSERT_TRUE(record.roofline);
  EXPECT_EQ(record.roofline->source, CeilingSource::calibrated);
  // The shortest iteration counts.
  EXPECT_DOUBLE_EQ(record.roofline->peak_flops_per_s->value, 2.0 * 8 * 4 * 4 / 60e-6);
  // The median sample takes 90 us, so that its rate is a third below the best one.
  EXPECT_DOUBLE_EQ(record.roofline->precision.value_or(0), 1.0 / 3);
  EXPECT_THAT(observer_.messages,
              Contains(AllOf(HasSubstr("to about 33 %; `bench peak` measures and stores them"))));
  EXPECT_THAT(sink_.all<ProcessRecord>(), testing::SizeIs(1));  // not those of the calibration
  EXPECT_TRUE(std::holds_alternative<RunRecord>(sink_.records.front()));
}

// The loop of a ceiling that the fake worker measures in place of a real one: 256 FLOPs.
std::vector<CalibrationCase> one_loop() {
  return {{{kLoop, "fma_avx2_f32", "", 1}, test::make_case(kLoop, measure(1, 1ms), {1, 0ns})}};
}

// `bench peak --quick` on a busy machine stored a ceiling that was 1.63 times too low, and each
// later run ended with status 3.
TEST_F(CoordinatorTest, AStoredCeilingOfADisturbedMomentIsMeasuredAgainBeforeATimeIsRefused) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{128e9 / 100'000}}};
  parts_.ceiling_cases = [](const std::string&) { return one_loop(); };
  scripts_["m8n4k4"].run = [](std::int64_t) { return 100us; };
  const RunSummary summary = run(one_case());
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::ok);
  ASSERT_TRUE(record.roofline);
  EXPECT_EQ(record.roofline->source, CeilingSource::stored);
  EXPECT_EQ(record.roofline->ideal, 50us);
  EXPECT_EQ(record.details.at("ceilings.measured_again"),
            "fma_avx2_f32, 1 thread: 1.280 MFLOP/s stored, 2.560 MFLOP/s measured again");
  EXPECT_THAT(observer_.messages, Contains(HasSubstr("so 1 is measured again")));
  EXPECT_EQ(workers_, 2);  // the case and the loop
  EXPECT_FALSE(summary.any_failed);
  EXPECT_THAT(sink_.all<ProcessRecord>(), testing::SizeIs(1));
}

TEST_F(CoordinatorTest, ATimeAboveCeilingsThatWereMeasuredAgainIsRefused) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{128e9 / 100'000}}};
  parts_.ceiling_cases = [](const std::string&) { return one_loop(); };
  scripts_["m8n4k4"].run = [](std::int64_t) { return 400us; };
  const RunSummary summary = run(one_case());
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(record.reason.value_or(""),
              testing::AllOf(HasSubstr("`bench peak` measures the ceilings again"),
                             HasSubstr("The run measured them again: fma_avx2_f32, 1 thread: 1.280 "
                                       "MFLOP/s stored, 640.0 kFLOP/s measured again")));
  EXPECT_EQ(workers_, 4);  // the loop has three chances
  EXPECT_TRUE(summary.any_failed);
}

// Other cases of a run need no more time for it: each ceiling has three chances in all.
TEST_F(CoordinatorTest, ACeilingIsMeasuredAgainAtMostThreeTimesInARun) {
  parts_.ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{1e3}}};
  parts_.ceiling_cases = [](const std::string&) { return one_loop(); };
  scripts_["m8n4k4"].run = [](std::int64_t) { return 10ms; };
  const std::string third = "gemm/forward/m16n4k4/f32/onednn/cpu/hot";
  run(test::make_plan({test::make_case(kFirst, measure(1), kShortWarmup),
                       test::make_case(third, measure(1), kShortWarmup)}));
  EXPECT_EQ(workers_, 4);
  EXPECT_EQ(cases().at(third).outcome, Outcome::failed);
}

// A calibration that is wrong by half made every share of the peak wrong.
TEST_F(CoordinatorTest, ACalibrationThatACaseExceedsIsRepeatedAfterIt) {
  scripts_["m8n4k4"].run = [this](std::int64_t) { return workers_ == 1 ? 400us : 100us; };
  parts_.calibration = one_loop();
  parts_.ceiling_cases = [](const std::string&) { return one_loop(); };
  run(one_case());
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::ok);
  ASSERT_TRUE(record.roofline);
  EXPECT_EQ(record.roofline->ideal, 50us);
  EXPECT_THAT(record.flags, Not(Contains(Flag::above_ceiling)));
  EXPECT_EQ(record.details.at("ceilings.measured_again"),
            "fma_avx2_f32, 1 thread: 640.0 kFLOP/s calibrated, 2.560 MFLOP/s measured again");
}

// A ceiling that is too low and that no case exceeds shows only in another moment.
TEST_F(CoordinatorTest, TheCalibrationIsRepeatedBeforeTheLastProcessAndTheBestRateCounts) {
  scripts_["m8n4k4"].run = [this](std::int64_t) { return workers_ == 1 ? 110us : 64us; };
  parts_.calibration = one_loop();
  run(test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup)}));
  const CaseRecord record = cases().at(kFirst);
  ASSERT_TRUE(record.roofline);
  EXPECT_EQ(record.roofline->ideal, 32us);
  EXPECT_FALSE(record.details.contains("ceilings.measured_again"));
}

std::vector<CalibrationCase> many_loops(int count) {
  std::vector<CalibrationCase> cases;
  for (int i = 0; i < count; ++i) cases.push_back(one_loop().front());
  return cases;
}

// The last loop used to start as late as at the limit, and ended after it.
TEST_F(CoordinatorTest, ACalibrationEndsWithinItsLimit) {
  scripts_["m8n4k4"].run = [](std::int64_t) { return 30ms; };
  parts_.calibration = many_loops(100);
  const Nanoseconds start = clock_.now();
  std::optional<Nanoseconds> first_sample;
  scripts_["m4n4k4"].run = [&](std::int64_t) {
    first_sample = first_sample.value_or(clock_.now());
    return 60us;
  };
  run(one_case());
  ASSERT_TRUE(first_sample);
  EXPECT_LE(*first_sample - start, 2s + 10ms);
  EXPECT_GT(*first_sample - start, 1s);
}

TEST_F(CoordinatorTest, ACalibrationTakesAtMostAFifthOfTheBudget) {
  scripts_["m8n4k4"].run = [](std::int64_t) { return 30ms; };
  parts_.calibration = many_loops(100);
  options_.budget = 5s;
  const Nanoseconds start = clock_.now();
  std::optional<Nanoseconds> first_sample;
  scripts_["m4n4k4"].run = [&](std::int64_t) {
    first_sample = first_sample.value_or(clock_.now());
    return 60us;
  };
  run(one_case());
  ASSERT_TRUE(first_sample);
  EXPECT_LE(*first_sample - start, 1s + 10ms);
  EXPECT_TRUE(cases().at(kFirst).roofline);
}

TEST_F(CoordinatorTest, ARunWithHardlyAnyBudgetIsNotCalibrated) {
  parts_.calibration = one_loop();
  options_.budget = 300ms;
  run(one_case());
  EXPECT_EQ(cases().at(kFirst).outcome, Outcome::ok);
  EXPECT_FALSE(cases().at(kFirst).roofline);
}

// Such a run used to calibrate for two seconds, because only a worker checked the memory.
TEST_F(CoordinatorTest, ARunWhoseCasesAllLackMemoryStartsNoWorker) {
  parts_.memory = Bytes{16};
  parts_.calibration = {{{kLoop, "fma_avx2_f32", "", 1}, test::make_case(kLoop)}};
  run(one_case());
  EXPECT_EQ(workers_, 0);
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("not enough memory: needs "));
}

TEST_F(CoordinatorTest, ALoopThatCannotRunIsLeftOutOfTheCalibration) {
  scripts_["m8n4k4"].backend_error = ops::unsupported("this processor lacks avx2 fma");
  parts_.calibration = {{{kLoop, "fma_avx2_f32", "", 1}, test::make_case(kLoop)}};
  run(one_case());
  const CaseRecord record = cases().at(kFirst);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_FALSE(record.roofline);
  EXPECT_THAT(observer_.messages, Contains(HasSubstr("none could be measured")));
}

TEST_F(CoordinatorTest, WithoutCeilingsThereIsNoRoofline) {
  run(one_case());
  EXPECT_FALSE(cases().at(kFirst).roofline);
}

}  // namespace
}  // namespace bench
