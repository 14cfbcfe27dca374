// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/parameter_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string gemm(const std::string& sizes, const std::string& end) {
  return "gemm/forward/" + sizes + "/" + end;
}

// Adds a case whose five processes take `nanoseconds` and a little more.
void add(Report& report, const std::string& id, std::int64_t nanoseconds, std::int64_t flops = 0) {
  CaseRecord record;
  record.run_id = "r";
  record.id = id;
  record.case_hash = id;
  if (flops > 0) record.work.emplace().flops = flops;
  report.cases.push_back(record);
  for (int number = 0; number < 5; ++number) {
    ProcessRecord process;
    process.run_id = "r";
    process.id = id;
    process.process = number;
    process.samples = {Nanoseconds(nanoseconds + number)};
    report.processes.push_back(process);
  }
}

ParameterComparison compared(const Report& report, const std::string& parameter,
                             const std::optional<std::string>& against = {}) {
  auto result = compare_by(report, "a.jsonl", parameter, against);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  return result.ok() ? *std::move(result) : ParameterComparison{};
}

TEST(CompareBy, PairsHaveTheRatioOfTheirTimes) {
  Report report;
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1'000'000);
  add(report, gemm("m8n8k8", "bf16/onednn/cpu/hot"), 800'000);
  add(report, gemm("m4n8k8", "f32/onednn/cpu/hot"), 500'000);
  const ParameterComparison result = compared(report, "dtype");
  EXPECT_EQ(result.against, "f32");
  EXPECT_THAT(result.values, ElementsAre("bf16"));
  EXPECT_EQ(result.unpaired, 1u);
  EXPECT_TRUE(result.is_work_equal);
  ASSERT_EQ(result.groups.size(), 1u);
  const ParameterEffect& effect = result.groups[0].effects[0].value();
  EXPECT_EQ(effect.compared.id, gemm("m8n8k8", "bf16/onednn/cpu/hot"));
  EXPECT_NEAR(*effect.compared.ratio, 0.8, 1e-5);
  EXPECT_NEAR(*effect.speed_up(), 1.25, 1e-5);
  EXPECT_LT(*effect.low(), 1.25);
  EXPECT_GT(*effect.high(), 1.25);
  EXPECT_TRUE(effect.compared.changes.empty());
  EXPECT_NEAR(result.means[0]->value, 1.25, 1e-5);
  EXPECT_NEAR(result.means[0]->low, *effect.low(), 1e-9);
  EXPECT_NEAR(result.means[0]->high, *effect.high(), 1e-9);
}

TEST(CompareBy, AgainstChoosesTheOtherSide) {
  Report report;
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1'000'000);
  add(report, gemm("m8n8k8", "bf16/onednn/cpu/hot"), 800'000);
  const ParameterComparison result = compared(report, "dtype", "bf16");
  EXPECT_THAT(result.values, ElementsAre("f32"));
  EXPECT_NEAR(*result.groups.at(0).effects.at(0)->compared.ratio, 1.25, 1e-5);
  EXPECT_THAT(compare_by(report, "a.jsonl", "dtype", "f61").error().message(),
              HasSubstr("no case has the value `f61` of `dtype`"));
}

// Four times the work in twice the time is twice as fast.
TEST(CompareBy, ASweepOverASizeComparesTheWorkPerTime) {
  Report report;
  add(report, gemm("m16n8k8", "f32/onednn/cpu/hot"), 2'000'000, 4000);
  add(report, gemm("m4n8k8", "f32/onednn/cpu/hot"), 1'000'000, 1000);
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1'000'000, 2000);
  const ParameterComparison result = compared(report, "m");
  EXPECT_EQ(result.against, "4") << "the smallest number";
  EXPECT_THAT(result.values, ElementsAre("8", "16"));
  EXPECT_FALSE(result.is_work_equal);
  ASSERT_EQ(result.groups.size(), 1u);
  EXPECT_NEAR(result.means[0]->value, 2, 1e-5);
  EXPECT_NEAR(result.means[1]->value, 2, 1e-5);
}

TEST(CompareBy, ThreadsAreSortedAsNumbersAndAllComesLast) {
  Report report;
  const std::string id = gemm("m8n8k8", "f32/onednn/cpu/hot");
  add(report, id, 100'000);
  add(report, id + "/t16", 200'000);
  add(report, id + "/t2", 400'000);
  const ParameterComparison result = compared(report, "threads");
  EXPECT_EQ(result.against, "2");
  EXPECT_THAT(result.values, ElementsAre("16", "all"));
  EXPECT_NEAR(result.means[1]->value, 4, 1e-3);
}

// A value that occurs only in cases without a partner used to have an empty column.
TEST(CompareBy, ValuesOfCasesWithoutAPartnerAreLeftOut) {
  Report report;
  add(report, gemm("m4n8k8", "f32/onednn/cpu/hot"), 1000);
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1000);
  add(report, gemm("m64n9k8", "f32/onednn/cpu/hot"), 1000);
  EXPECT_THAT(compared(report, "m").values, ElementsAre("8"));
}

TEST(CompareBy, AMissingValueOfAGroupHasNoEffect) {
  Report report;
  for (const char* size : {"m4n8k8", "m8n8k8", "m4n9k8"}) {
    add(report, gemm(size, "f32/onednn/cpu/hot"), 1000);
  }
  add(report, gemm("m16n9k8", "f32/onednn/cpu/hot"), 1000);
  const ParameterComparison result = compared(report, "m");
  ASSERT_EQ(result.groups.size(), 2u);
  EXPECT_TRUE(result.groups[0].effects[0] && !result.groups[0].effects[1]);
  EXPECT_TRUE(!result.groups[1].effects[0] && result.groups[1].effects[1]);
}

TEST(CompareBy, AFailedCaseIsNotComparedAndGivesItsReason) {
  Report report;
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1000);
  add(report, gemm("m8n8k8", "bf16/onednn/cpu/hot"), 1000);
  report.cases[1].outcome = Outcome::crashed;
  report.cases[1].reason = "signal 11";
  const ParameterComparison result = compared(report, "dtype");
  const ParameterEffect& effect = result.groups.at(0).effects.at(0).value();
  EXPECT_FALSE(effect.speed_up());
  EXPECT_THAT(effect.compared.reason, HasSubstr("signal 11"));
  EXPECT_FALSE(result.means[0]);
}

void add_skipped(Report& report, const std::string& id, const std::string& reason) {
  CaseRecord record;
  record.run_id = "r";
  record.id = id;
  record.outcome = Outcome::skipped;
  record.reason = reason;
  report.cases.push_back(record);
}

// Three cases on three libraries; a fourth library is missing. mkl is the fastest by geometric
// mean, since (800 * 1000 * 1000)^(1/3) is less than (1000 * 1000 * 1000)^(1/3).
Report libraries_report() {
  Report report;
  const auto add_case = [&](const std::string& sizes, std::int64_t onednn, std::int64_t openblas,
                            std::int64_t mkl) {
    add(report, gemm(sizes, "f32/onednn/cpu/hot"), onednn);
    add(report, gemm(sizes, "f32/openblas/cpu/hot"), openblas);
    add_skipped(report, gemm(sizes, "f32/blis/cpu/hot"), "no BLIS");
    add(report, gemm(sizes, "f32/mkl/cpu/hot"), mkl);
  };
  add_case("m8n8k8", 1'000'000, 1'200'000, 800'000);
  add_case("m9n8k8", 1'000'000, 1'300'000, 1'000'000);
  add_case("m10n8k8", 1'000'000, 900'000, 1'000'000);
  return report;
}

TEST(CompareBy, BackendsAreRankedByGeometricMeanAndByWins) {
  const ParameterComparison result = compared(libraries_report(), "backend");
  ASSERT_TRUE(result.ranking.has_value());
  const ValueRanking& ranking = *result.ranking;
  EXPECT_EQ(ranking.cases, 3u);
  EXPECT_EQ(ranking.ties, 1u);  // onednn and mkl need the same time for m9n8k8
  ASSERT_EQ(ranking.places.size(), 3u);
  EXPECT_EQ(ranking.places[0].value, "mkl");
  EXPECT_EQ(ranking.places[0].wins, 1u);
  EXPECT_EQ(ranking.places[1].value, "onednn");
  EXPECT_EQ(ranking.places[1].wins, 0u);
  EXPECT_NEAR(ranking.places[1].mean_time, std::cbrt(1 / 0.8), 1e-4);
  EXPECT_EQ(ranking.places[2].value, "openblas");
  EXPECT_EQ(ranking.places[2].wins, 1u);
  EXPECT_NEAR(ranking.places[2].mean_time, std::cbrt(1.2 * 1.3 * 0.9 / 0.8), 1e-4);
  EXPECT_NEAR(ranking.lead.value, std::cbrt(1 / 0.8), 1e-4);
}

TEST(CompareBy, ABackendWithoutTimesIsSetAsideWithItsReason) {
  const ParameterComparison result = compared(libraries_report(), "backend");
  EXPECT_EQ(result.against, "onednn");
  EXPECT_THAT(result.values, ElementsAre("openblas", "mkl"));
  ASSERT_EQ(result.unmeasured.size(), 1u);
  EXPECT_EQ(result.unmeasured[0].value, "blis");
  EXPECT_THAT(result.unmeasured[0].reason, HasSubstr("no BLIS"));
  // If the first backend has no times, the next one is what all are compared with.
  Report report;
  add_skipped(report, gemm("m8n8k8", "f32/openblas/cpu/hot"), "no OpenBLAS");
  add(report, gemm("m8n8k8", "f32/mkl/cpu/hot"), 1'000'000);
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 2'000'000);
  const ParameterComparison other = compared(report, "backend");
  EXPECT_EQ(other.against, "mkl");
  EXPECT_THAT(other.values, ElementsAre("onednn"));
  EXPECT_EQ(other.unmeasured.at(0).value, "openblas");
}

TEST(CompareBy, WithoutTwoMeasuredBackendsThereIsNoRanking) {
  Report report;
  add_skipped(report, gemm("m8n8k8", "f32/openblas/cpu/hot"), "no OpenBLAS");
  add(report, gemm("m8n8k8", "f32/mkl/cpu/hot"), 1'000'000);
  const ParameterComparison result = compared(report, "backend");
  EXPECT_FALSE(result.ranking.has_value());
  EXPECT_THAT(result.values, ElementsAre("openblas"));
  // Cases that not all of them measured do not count.
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 2'000'000);
  add(report, gemm("m9n8k8", "f32/mkl/cpu/hot"), 1'000'000);
  add(report, gemm("m9n8k8", "f32/blis/cpu/hot"), 1'000'000);
  EXPECT_FALSE(compared(report, "backend").ranking.has_value());
  EXPECT_FALSE(compared(libraries_report(), "backend").means.empty());
}

TEST(CompareBy, ResultsWithoutPairsNameTheParametersThatHaveSome) {
  Report report;
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1000);
  EXPECT_THAT(compare_by(report, "a.jsonl", "dtype", {}).error().message(),
              HasSubstr("no two cases of a.jsonl differ in `dtype` alone; measure a sweep"));
  add(report, gemm("m9n8k8", "f32/onednn/cpu/hot"), 1000);
  EXPECT_THAT(compare_by(report, "a.jsonl", "dtype", {}).error().message(),
              testing::EndsWith("pairs exist for: m"));
}

TEST(CompareBy, AParameterThatNoCaseHasIsNotCalledUnpaired) {
  Report report;
  add(report, gemm("m8n8k8", "f32/onednn/cpu/hot"), 1000);
  add(report, gemm("m9n8k8", "f32/onednn/cpu/hot"), 1000);
  const std::string message = compare_by(report, "a.jsonl", "colour", {}).error().message();
  EXPECT_THAT(message, HasSubstr("no case of a.jsonl has a parameter `colour`; they have: "));
  EXPECT_THAT(message, HasSubstr("dtype"));
  EXPECT_THAT(message, HasSubstr("weights_batch and"));
}

}  // namespace
}  // namespace bench
