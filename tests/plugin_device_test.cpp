// SPDX-License-Identifier: Apache-2.0
// A plugin's device from YAML to result file. fakes/device_plugin.cpp uses only the C++ wrapper for
// its memory and clock. That clock is virtual, so that all times are exact.
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::plugin_device_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kConfig = R"(version: 1
name: device
plugins: [)" BENCH_DEVICE_PLUGIN R"(]
defaults: { warmup: { iterations: 1, time: 0ms },
            measure: { processes: 1, min_iterations: 5, max_time: 20ms } }
cases:
)";
constexpr const char* kHot = "  - { op: triple, count: 2000, device: cuda, tune: 3 }\n";
constexpr const char* kCold = "  - { op: triple, count: 2000, device: cuda, cache: cold }\n";
constexpr const char* kOther = "  - { op: gemm, m: 8, n: 8, k: 8, threads: 1 }\n";

class PluginDeviceTest : public testing::Test {
 protected:
  // Returns the records of these cases if the plugin has this fault, and expects the exit status.
  std::vector<CaseRecord> run(const std::string& cases, const std::string& fault, int status) {
    folder_.write("device.yaml", kConfig + cases);
    const ProgramResult result =
        run_program({{BENCH_BINARY, "run", "device.yaml", "--out", "r.jsonl", "--force"},
                     folder_.path(),
                     {{"DEVICE_PLUGIN", fault}}});
    EXPECT_EQ(result.status, status) << fault << ": " << result.out << result.err;
    auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    EXPECT_TRUE(report.ok()) << fault;
    if (!report.ok()) return {};
    processes_ = std::move(report->processes);
    return std::move(report->cases);
  }
  // Returns the first case's record; another case that is unaffected by the fault follows it.
  CaseRecord hot(const std::string& fault, int status) {
    const std::vector<CaseRecord> records = run(std::string(kHot) + kOther, fault, status);
    EXPECT_THAT(records, SizeIs(2)) << fault;
    if (records.size() != 2) return {};
    EXPECT_EQ(records[1].outcome, Outcome::ok) << fault << records[1].reason.value_or("");
    return records[0];
  }

  TemporaryFolder folder_;
  std::vector<ProcessRecord> processes_;  // records of the latest run
};

TEST_F(PluginDeviceTest, AnOperatorHasTheDevicesMemoryAndItsClock) {
  const CaseRecord record = hot("", 0);
  EXPECT_EQ(record.outcome, Outcome::ok) << record.reason.value_or("");
  EXPECT_EQ(record.id, "triple/forward/n2000/f32/scripted/cuda/hot");
  EXPECT_TRUE(record.check) << "nothing is timed before it was checked";
  ASSERT_TRUE(record.time);
  EXPECT_EQ(record.time->median, Nanoseconds(20000));
  EXPECT_EQ(record.time->max, Nanoseconds(20000));
  EXPECT_EQ(record.host_launch, Nanoseconds(1500));
  EXPECT_EQ(record.clock_hz, 1'250'000'000);
  EXPECT_EQ(record.sample_method, "stream");
  EXPECT_THAT(record.flags, IsEmpty());
  const auto process = std::ranges::find(processes_, record.id, &ProcessRecord::id);
  ASSERT_NE(process, processes_.end());
  EXPECT_THAT(process->samples, SizeIs(testing::Ge(5U)));
  EXPECT_THAT(process->samples, Each(Nanoseconds(20000 * process->iterations_per_sample)));
}

TEST_F(PluginDeviceTest, DetailsAndTuningReachTheResultAndTheKernel) {
  const CaseRecord record = hot("", 0);
  EXPECT_EQ(record.implementation, "triple_on_device");
  EXPECT_EQ(record.details.at("engine"), "7");
  EXPECT_EQ(record.details.at("tuned"), "3");
  EXPECT_EQ(record.setup.at("compile_ns"), Nanoseconds(1500));
}

TEST_F(PluginDeviceTest, ColdSamplesRotateOverMoreThanTheDevicesCache) {
  const std::vector<CaseRecord> records = run(kCold, "", 0);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].outcome, Outcome::ok) << records[0].reason.value_or("");
  ASSERT_TRUE(records[0].time);
  // Twice the cache holds 11 sets of two buffers in units of 256 bytes. Each execution has other
  // buffers than the one before it, including the first of a sample.
  EXPECT_EQ(records[0].details.at("cold.sets"), "11");
  ASSERT_THAT(processes_, SizeIs(1));
  EXPECT_EQ(processes_[0].iterations_per_sample, 37);
  EXPECT_EQ(records[0].time->median, Nanoseconds(30000));
  EXPECT_EQ(records[0].time->max, Nanoseconds(30000));
}

TEST_F(PluginDeviceTest, AVoidSampleIsNotCountedAndHasItsReason) {
  const CaseRecord some = hot("void_third", 0);
  EXPECT_EQ(some.outcome, Outcome::ok) << some.reason.value_or("");
  EXPECT_THAT(some.flags, Contains(Flag::voided_samples));
  ASSERT_TRUE(some.voided && some.time);
  EXPECT_GT(some.voided->count, 0);
  EXPECT_THAT(some.voided->reasons,
              ElementsAre(testing::Pair("another program was on the device", some.voided->count)));
  EXPECT_EQ(some.time->max, Nanoseconds(20000));
  const CaseRecord untold = hot("timeless_third", 0);
  ASSERT_TRUE(untold.voided);
  EXPECT_THAT(untold.voided->reasons,
              ElementsAre(testing::Pair("the plugin does not report the device's time",
                                        untold.voided->count)));
  const CaseRecord all = hot("void_all", 3);
  EXPECT_EQ(all.outcome, Outcome::failed);
  EXPECT_THAT(all.reason.value_or(""), AllOf(HasSubstr("samples were discarded"),
                                             HasSubstr("another program was on the device")));
}

TEST_F(PluginDeviceTest, AThrottledSampleCountsAndHasItsReason) {
  const CaseRecord record = hot("throttled", 0);
  ASSERT_TRUE(record.time && record.throttled);
  EXPECT_EQ(record.time->median, Nanoseconds(20000));
  EXPECT_THAT(record.flags, ElementsAre(Flag::throttled));
  EXPECT_THAT(record.throttled->reasons,
              ElementsAre(testing::Pair("the device was warm", record.throttled->count)));
}

TEST_F(PluginDeviceTest, MemoryIsNoneOfTheHosts) {
  const CaseRecord record = hot("touch", 3);
  EXPECT_EQ(record.outcome, Outcome::crashed) << "the host can read it: the tests above say little";
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("SIGSEGV"));
}

TEST_F(PluginDeviceTest, WhatGoesWrongIsTheOutcomeOfThatCaseAlone) {
  struct Expected {
    std::string fault;
    int status;
    Outcome outcome;
    std::string reason;
  };
  const std::vector<Expected> all = {
      {"wrong", 3, Outcome::wrong_result, "destination"},
      {"full", 3, Outcome::failed, "no memory on this device today"},
      {"fail_copy", 3, Outcome::failed, "no way back from this device"},
      {"throw_sample", 3, Outcome::failed, "no sample today"},
      {"throw_odd", 3, Outcome::failed, "an exception of an unknown type"},
      {"small", 0, Outcome::skipped, "not enough memory on the device: the tensors need"},
      {"absent", 0, Outcome::skipped, "the device is on holiday"},
  };
  for (const Expected& expected : all) {
    const CaseRecord record = hot(expected.fault, expected.status);
    EXPECT_EQ(record.outcome, expected.outcome) << expected.fault;
    EXPECT_THAT(record.reason.value_or(""), HasSubstr(expected.reason)) << expected.fault;
  }
}

TEST_F(PluginDeviceTest, AListSaysWhyTheDeviceIsNotHere) {
  folder_.write("device.yaml", std::string(kConfig) + kHot);
  const auto list = [&](const std::string& fault) {
    return run_program(
               {{BENCH_BINARY, "list", "device.yaml"}, folder_.path(), {{"DEVICE_PLUGIN", fault}}})
        .out;
  };
  EXPECT_THAT(list(""), HasSubstr("1 case, 1 can run here"));
  EXPECT_THAT(list("absent"),
              AllOf(HasSubstr("no: the device is on holiday"), HasSubstr("0 can run here")));
}

}  // namespace
}  // namespace bench::test::plugin_device_test
