// SPDX-License-Identifier: Apache-2.0
#include "harness/result/device_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DeviceSamples, OfSeveralRoundsFollowEachOther) {
  DeviceSamples all;
  append(all, {{1ns, 2ns}, {10, 20}, "graph", {2, {{"hot", 2}}}, {}, {1, {{"moved", 1}}}});
  append(all, {{3ns}, {30}, "graph", {1, {{"hot", 1}}}, {1, {{"power cap", 1}}}, {}});
  drop_incomplete_lists(all, 3);
  EXPECT_THAT(all.host_launch, ElementsAre(1ns, 2ns, 3ns));
  EXPECT_THAT(all.clock_hz, ElementsAre(10, 20, 30));
  EXPECT_EQ(all.sample_method, "graph");
  EXPECT_EQ(all.voided, (SampleRemarks{3, {{"hot", 3}}}));
  EXPECT_EQ(all.throttled, (SampleRemarks{1, {{"power cap", 1}}}));
  EXPECT_EQ(all.unsteady_clock, (SampleRemarks{1, {{"moved", 1}}}));
}

TEST(DeviceSamples, WhatIsNotKnownOfEverySampleIsLeftOut) {
  DeviceSamples all;
  append(all, {{1ns, 2ns}, {10}, {}, {}, {}, {}});
  drop_incomplete_lists(all, 2);
  EXPECT_EQ(all.host_launch.size(), 2U);
  EXPECT_THAT(all.clock_hz, IsEmpty());
  EXPECT_EQ(all.voided, SampleRemarks{});
  EXPECT_FALSE(all.sample_method);
}

// A device starts at its boost clock and settles at its power cap.
TEST(DeviceSamples, ACaseStatesTheBurstAndTheSteadyClock) {
  ProcessRecord first, second;
  first.device.clock_hz = {1980, 1900, 1500, 1490, 1500, 1480};
  second.device.clock_hz = {1700, 1520, 1520, 1520};
  const std::vector<const ProcessRecord*> processes = {&first, &second};
  CaseRecord record;
  fill_device_part(record, processes);
  EXPECT_EQ(record.details.at("clock.burst_hz"), "1980");
  EXPECT_EQ(record.details.at("clock.steady_hz"), "1505");
  CaseRecord on_host;
  const ProcessRecord without;
  const std::vector<const ProcessRecord*> one = {&without};
  fill_device_part(on_host, one);
  EXPECT_TRUE(on_host.details.empty());
}

TEST(DeviceSamples, VoidOnesAreNamedByTheMostFrequentReason) {
  EXPECT_EQ(format_discarded({18, {{"hot", 1}, {"another process", 17}}}),
            "all 18 samples were discarded, most often: another process");
}

}  // namespace
}  // namespace bench
