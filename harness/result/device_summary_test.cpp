// SPDX-License-Identifier: Apache-2.0
#include "harness/result/device_samples.hpp"
#include "harness/result/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

ProcessRecord process(Nanoseconds sample, Nanoseconds launch, std::int64_t clock_hz) {
  ProcessRecord record;
  record.samples.assign(20, sample);
  record.device.host_launch.assign(20, launch);
  record.device.clock_hz.assign(20, clock_hz);
  record.iterations_per_sample = 10;
  record.device.sample_method = "stream";
  return record;
}

CaseRecord summary_of(const std::vector<ProcessRecord>& processes, CaseRecord record = {}) {
  std::vector<const ProcessRecord*> pointers;
  for (const ProcessRecord& process : processes) pointers.push_back(&process);
  complete_case(record, pointers, 0.02);
  return record;
}

TEST(DeviceSummary, HasMediansOfLaunchesClocksAndPartsOfTheSetup) {
  std::vector<ProcessRecord> processes = {process(1000us, 50us, 1'700'000'000),
                                          process(1010us, 60us, 1'800'000'000),
                                          process(1020us, 70us, 1'750'000'000)};
  processes[0].setup = {{"context_ns", 300ms}, {"plan_ns", 2ms}};
  processes[1].setup = {{"context_ns", 310ms}};
  processes[2].setup = {{"context_ns", 320ms}};
  const CaseRecord record = summary_of(processes);
  EXPECT_EQ(record.time->median, 101us);
  EXPECT_EQ(record.host_launch, 6us);
  EXPECT_EQ(record.clock_hz, 1'750'000'000);
  EXPECT_EQ(record.sample_method, "stream");
  EXPECT_EQ(record.setup,
            (std::map<std::string, Nanoseconds>{{"context_ns", 310ms}, {"plan_ns", 2ms}}));
  EXPECT_FALSE(record.voided);
  EXPECT_THAT(record.flags, IsEmpty());
}

TEST(DeviceSummary, OneVoidSampleIsFlaggedAndFewThrottledOnesAreOnlyCounted) {
  std::vector<ProcessRecord> processes = {process(1ms, 50us, 1), process(1ms, 50us, 1)};
  processes[0].device.voided = SampleRemarks{1, {{"hot", 1}}};
  processes[1].device.throttled = SampleRemarks{1, {{"power cap", 1}}};
  CaseRecord record = summary_of(processes);
  EXPECT_THAT(record.flags, ElementsAre(Flag::voided_samples));
  EXPECT_EQ(record.throttled->count, 1);
  processes[0].device.throttled = SampleRemarks{1, {{"power cap", 1}}};  // 2 of 40
  processes[0].device.unsteady_clock = SampleRemarks{20, {{"the clock changed", 20}}};
  record = summary_of(processes);
  EXPECT_THAT(record.flags, ElementsAre(Flag::unsteady, Flag::throttled, Flag::voided_samples));
  EXPECT_EQ(record.throttled, (SampleRemarks{2, {{"power cap", 2}}}));
}

TEST(DeviceSummary, ProcessesWithoutValidSamplesReportDiscardedOnes) {
  std::vector<ProcessRecord> processes = {process(1ms, 50us, 1), ProcessRecord{}};
  processes[1].device.voided = SampleRemarks{18, {{"lost", 18}}};
  const CaseRecord record = summary_of(processes);
  EXPECT_EQ(record.time->median, 100us);
  EXPECT_EQ(record.voided->count, 18);
  EXPECT_EQ(record.host_launch, 5us);
}

TEST(DeviceSummary, BelowFiveTimesTheLaunchFloorACaseIsLaunchBound) {
  CaseRecord record;
  record.launch_floor = 2us;
  EXPECT_THAT(summary_of({process(100us, 50us, 1)}, record).flags, IsEmpty());  // 10 us
  EXPECT_THAT(summary_of({process(99'990ns, 50us, 1)}, record).flags,
              ElementsAre(Flag::launch_bound));
  record.launch_floor.reset();
  EXPECT_THAT(summary_of({process(1us, 50us, 1)}, record).flags, IsEmpty());
}

}  // namespace
}  // namespace bench
