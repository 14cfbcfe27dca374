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
  ProcessRecord record;
  record.samples.resize(3);
  describe(all, record);
  EXPECT_THAT(record.host_launch, ElementsAre(1ns, 2ns, 3ns));
  EXPECT_THAT(record.clock_hz, ElementsAre(10, 20, 30));
  EXPECT_EQ(record.sample_method, "graph");
  EXPECT_EQ(record.voided, (SampleRemarks{3, {{"hot", 3}}}));
  EXPECT_EQ(record.throttled, (SampleRemarks{1, {{"power cap", 1}}}));
  EXPECT_EQ(record.unsteady_clock, (SampleRemarks{1, {{"moved", 1}}}));
}

TEST(DeviceSamples, LaterDetailsTakeThePlaceOfEarlierOnes) {
  DeviceSamples all, first, second;
  first.details = {{"sample_method", "stream"}, {"launch_floor_ns", "1200"}};
  second.details = {{"sample_method", "stream; the queue holds few launches"}};
  append(all, first);
  append(all, second);
  EXPECT_THAT(all.details,
              ElementsAre(testing::Pair("launch_floor_ns", "1200"),
                          testing::Pair("sample_method", "stream; the queue holds few launches")));
}

TEST(DeviceSamples, WhatIsNotKnownOfEverySampleIsLeftOut) {
  DeviceSamples all;
  append(all, {{1ns, 2ns}, {10}, {}, {}, {}, {}});
  ProcessRecord record;
  record.samples.resize(2);
  describe(all, record);
  EXPECT_EQ(record.host_launch.size(), 2U);
  EXPECT_THAT(record.clock_hz, IsEmpty());
  EXPECT_FALSE(record.voided || record.throttled || record.unsteady_clock || record.sample_method);
}

TEST(DeviceSamples, VoidOnesAreNamedByTheMostFrequentReason) {
  EXPECT_EQ(void_text({18, {{"hot", 1}, {"another process", 17}}}),
            "all 18 samples were discarded, most often: another process");
}

}  // namespace
}  // namespace bench
