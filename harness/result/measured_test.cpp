// SPDX-License-Identifier: Apache-2.0
#include "harness/result/measured.hpp"

#include "tests/fakes/reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kOnDevice = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";

// A run of one case with two processes that a second run resumed.
Report resumed_report(const std::string& id) {
  RunRecord first = test::sample_run("r1");
  first.environment.details = {
      {"gpu.name", "NVIDIA H200"}, {"gpu.uuid", "GPU-1"}, {"governor", "powersave"}};
  RunRecord second = first;
  second.run_id = "r2";
  second.resumes = "r1";
  Report report;
  report.runs = {first, second};
  report.processes = {test::sample_process("r1", id, 0, {100ns, 110ns, 120ns}),
                      test::sample_process("r2", id, 1, {200ns}),
                      test::sample_process("r2", id, 2, {}),
                      test::sample_process("r0", id, 0, {1ns})};
  report.cases = {test::sample_case("r2", id)};
  return report;
}

TEST(MeasuredCases, HaveTheProcessesOfAllRunsOfTheirChain) {
  const std::vector<MeasuredCase> cases = measured_cases(resumed_report(test::kStoredCase));
  ASSERT_THAT(cases, SizeIs(1));
  const MeasuredCase& measured = cases[0];
  EXPECT_EQ(measured.id, test::kStoredCase);
  EXPECT_EQ(measured.group, "gemm/forward");
  EXPECT_THAT(iteration_times(measured.processes, &ProcessSummary::median), ElementsAre(110, 200));
  EXPECT_EQ(median_iteration(measured), 155);
  EXPECT_THAT(measured.machine, ElementsAre(testing::Pair("machine_class", test::kStoredMachine)));
  EXPECT_FALSE(measured.device);  // the CPU has none
}

// Regression test: processes of two environments used to be one case.
TEST(MeasuredCases, HaveOnlyTheProcessesOfTheirEnvironment) {
  const std::vector<std::pair<std::string, std::function<void(RunRecord&)>>> changes = {
      {"machine_class was `test-2c-00000000` and is `other`",
       [](RunRecord& run) { run.environment.machine_class = "other"; }},
      {"library.onednn was `3.2.0` and is `3.3.0`",
       [](RunRecord& run) { run.environment.libraries["onednn"] = "3.3.0"; }},
      {"tool.version was not set and is `0.2.0`",
       [](RunRecord& run) { run.tool_version = "0.2.0"; }},
      {"tool.commit was not set and is `c0ffee`",
       [](RunRecord& run) { run.tool_commit = "c0ffee"; }},
      {"seed was `0` and is `7`", [](RunRecord& run) { run.seed = 7; }},
      {"gpu.name was `NVIDIA H200` and is `NVIDIA H100`",
       [](RunRecord& run) { run.environment.details["gpu.name"] = "NVIDIA H100"; }},
      {"env.ONEDNN_MAX_CPU_ISA was not set and is `SSE41`",
       [](RunRecord& run) { run.environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41"; }}};
  for (const auto& [text, change] : changes) {
    Report report = resumed_report(test::kStoredCase);
    change(report.runs[1]);
    EXPECT_EQ(identity_difference(report.runs[0], report.runs[1]), text);
    EXPECT_THAT(iteration_times(measured_cases(report).at(0).processes, &ProcessSummary::median),
                ElementsAre(200))
        << text;
  }
  Report same = resumed_report(test::kStoredCase);
  same.runs[1].environment.details["load_1min"] = "3";
  EXPECT_EQ(identity_difference(same.runs[0], same.runs[1]), std::nullopt);
}

TEST(MeasuredCases, OnADeviceHaveItsStateIfTheRunIsKnown) {
  Report report = resumed_report(kOnDevice);
  const auto device = measured_cases(report).at(0).device;
  ASSERT_TRUE(device);
  EXPECT_THAT(*device, ElementsAre(testing::Pair("gpu.name", "NVIDIA H200")));
  report.runs.clear();
  EXPECT_FALSE(measured_cases(report).at(0).device);
}

// The second process ran while the machine was slower.
TEST(MeasuredCases, HaveTheirTimesBySpeedAndTheirProcessesAtOneLevel) {
  Report report;
  report.runs = {test::sample_run("r1")};
  for (int number = 0; number < 2; ++number) {
    ProcessRecord process = test::sample_process(
        "r1", test::kStoredCase, number, std::vector<Nanoseconds>(6, number == 0 ? 100us : 150us));
    process.canaries.threads = 1;
    process.canaries.times.assign(6, number == 0 ? 1500ns : 2300ns);
    report.processes.push_back(process);
  }
  report.cases = {test::sample_case("r1")};
  report.cases[0].time.emplace().at = SpeedLevel{1500ns, LevelSource::stored};
  const MeasuredCase measured = measured_cases(report).at(0);
  ASSERT_TRUE(measured.by_speed);
  EXPECT_EQ(measured.by_speed->processes, 2);
  EXPECT_THAT(measured.by_speed->cells, SizeIs(2));
  EXPECT_EQ(measured.at->canary, 1500ns);
  EXPECT_EQ(measured.at->source, LevelSource::stored);
  EXPECT_EQ(measured.canary_threads, 1);
  ASSERT_THAT(measured.processes, SizeIs(2));
  EXPECT_NEAR(measured.processes[0].median.count(), 100'000, 2000);
  EXPECT_NEAR(measured.processes[1].median.count(), 100'000, 2000);
  report.processes[1].canaries = {};
  const MeasuredCase without = measured_cases(report).at(0);
  EXPECT_FALSE(without.by_speed);
  EXPECT_FALSE(without.at);
  EXPECT_EQ(without.processes.at(1).median, 150us);
}

TEST(MeasuredCases, WithoutAResultHaveNoProcesses) {
  Report report = resumed_report(test::kStoredCase);
  report.cases[0].outcome = Outcome::wrong_result;
  report.cases[0].time = TimeSummary{100ns, {}, {}, {}, {}, {}, {}, {}};
  report.cases[0].reason = "element 7";
  const MeasuredCase measured = measured_cases(report).at(0);
  EXPECT_EQ(measured.outcome, Outcome::wrong_result);
  EXPECT_EQ(measured.reason, "element 7");
  EXPECT_THAT(measured.processes, IsEmpty());
  EXPECT_FALSE(measured.median);
}

TEST(MeasuredCases, AProcessIsSummarisedByOrderStatisticsOfItsSamples) {
  ProcessRecord process;
  process.iterations_per_sample = 10;
  for (const int sample : {50, 10, 40, 20, 30}) process.samples.emplace_back(sample);
  const auto summary = summarise(CountedSamples{&process, process.samples});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->samples, 5);
  EXPECT_EQ(summary->median, Nanoseconds(30));
  EXPECT_EQ(summary->q25, Nanoseconds(20));
  EXPECT_EQ(summary->p90, Nanoseconds(46));  // type 7: 40 + 0.6 * 10
  EXPECT_EQ(summary->min, Nanoseconds(10));
  EXPECT_EQ(summary->deviation, Nanoseconds(16));  // sqrt(250)
  EXPECT_EQ(per_iteration(summary->median, *summary), 3.0);
  EXPECT_EQ(summarise(CountedSamples{&process, {Nanoseconds(50)}})->deviation, std::nullopt);
  EXPECT_EQ(summarise(CountedSamples{&process, {}}), std::nullopt);
}

// Google Benchmark states times below a nanosecond.
TEST(MeasuredCases, TheTimeOfAnIterationKeepsItsDigits) {
  for (const double time : {0.3125, 1234.567, 987654321.125}) {
    const ProcessSummary process = process_from_iteration(FractionalNanoseconds(time));
    EXPECT_DOUBLE_EQ(per_iteration(process.median, process), time);
    EXPECT_EQ(process.q25, process.median);
  }
  const ProcessSummary day = process_from_iteration(std::chrono::hours(24));
  EXPECT_EQ(day.median, std::chrono::hours(24));
  const ProcessSummary endless = process_from_iteration(FractionalNanoseconds(1e300));
  EXPECT_GT(endless.median, std::chrono::hours(24));
}

TEST(MeasuredCases, TheSourcesMedianCountsWithoutProcesses) {
  MeasuredCase measured;
  EXPECT_EQ(median_iteration(measured), std::nullopt);
  measured.median = FractionalNanoseconds(0);
  EXPECT_EQ(median_iteration(measured), std::nullopt);
  measured.median = FractionalNanoseconds(2.5);
  EXPECT_EQ(median_iteration(measured), 2.5);
  measured.processes = {process_from_iteration(Nanoseconds(4))};
  EXPECT_EQ(median_iteration(measured), 4);
}

}  // namespace
}  // namespace bench
