// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/reading_counters.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::GpuScript;
using test::of_kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

GpuReading memory(Nanoseconds at, std::int64_t bytes,
                  GpuMemorySource source = GpuMemorySource::process) {
  GpuReading reading;
  reading.at = at;
  reading.memory = GpuProcessMemory{bytes, source};
  return reading;
}

TEST(ReadingCounters, ClockAndPowerByTimeInHertzAndWatt) {
  GpuReading late{0, 20ns, 1'980'000'000, 700'500, std::nullopt};
  GpuReading early{0, 10ns, 1'755'000'000, 120'000, std::nullopt};
  const GpuReadingCounters counters = reading_counters({late, early}, {});
  EXPECT_THAT(counters.sm_clock,
              ElementsAre(CounterPoint{10ns, 1.755e9}, CounterPoint{20ns, 1.98e9}));
  EXPECT_THAT(counters.power, ElementsAre(CounterPoint{10ns, 120}, CounterPoint{20ns, 700.5}));
  EXPECT_THAT(counters.other_bytes, IsEmpty());
  EXPECT_FALSE(counters.memory_source.has_value());
}

TEST(ReadingCounters, WhatIsNotToldHasNoPoint) {
  const GpuReadingCounters counters = reading_counters({GpuReading{0, 10ns, {}, {}, {}}}, {});
  EXPECT_THAT(counters.sm_clock, IsEmpty());
  EXPECT_THAT(counters.power, IsEmpty());
}

TEST(ReadingCounters, OtherMemoryIsTheDriversCountLessWhatIsLiveThen) {
  const CounterPoint live[] = {{15ns, 100}, {20ns, 300}, {25ns, 50}};
  const GpuReadingCounters counters = reading_counters(
      {memory(10ns, 1000), memory(19ns, 1100), memory(20ns, 1350), memory(30ns, 1100)}, live);
  EXPECT_THAT(counters.other_bytes,
              ElementsAre(CounterPoint{10ns, 1000}, CounterPoint{19ns, 1000},
                          CounterPoint{20ns, 1050}, CounterPoint{30ns, 1050}));
  EXPECT_EQ(counters.memory_source, GpuMemorySource::process);
  EXPECT_EQ(counters.readings_below_allocations, 0);
}

// Another process released memory in between, or the driver counts an allocation later.
TEST(ReadingCounters, LessThanWhatIsLiveSaysNothing) {
  const CounterPoint live[] = {{0ns, 500}};
  const GpuReadingCounters counters = reading_counters(
      {memory(10ns, 499, GpuMemorySource::growth), memory(11ns, 500, GpuMemorySource::growth)},
      live);
  EXPECT_THAT(counters.other_bytes, ElementsAre(CounterPoint{11ns, 0}));
  EXPECT_EQ(counters.memory_source, GpuMemorySource::growth);
  EXPECT_EQ(counters.readings_below_allocations, 1);
}

TEST(ReadingCounters, WhereTheDriverListsTheProcessGrowthDoesNotCount) {
  const GpuReadingCounters counters =
      reading_counters({memory(10ns, 7, GpuMemorySource::growth), memory(20ns, 9)}, {});
  EXPECT_THAT(counters.other_bytes, ElementsAre(CounterPoint{20ns, 9}));
  EXPECT_EQ(counters.memory_source, GpuMemorySource::process);
}

GpuReading reading(std::int64_t at, std::int64_t device = 0) {
  GpuReading result;
  result.device = device;
  result.at = Nanoseconds(at);
  return result;
}

TEST(JoinReadings, ReadingsOfTheDriverAreCounters) {
  GpuScript script(42);
  script.memory(GpuAllocationChange::allocation, 0x1000, 600, 10);
  GpuReading first = reading(5), second = reading(15), other_device = reading(15, 1);
  first.sm_clock_hz = 1'755'000'000;
  first.power_milliwatt = 450'250;
  first.memory = GpuProcessMemory{5000, GpuMemorySource::growth};
  second.memory = GpuProcessMemory{5700, GpuMemorySource::growth};
  other_device.memory = GpuProcessMemory{9, GpuMemorySource::process};
  script.add(second);
  script.add(first);
  script.add(other_device);
  const GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(test::counter(join.activities, "sm_clock"), ElementsAre(Pair(5, 1.755e9)));
  EXPECT_THAT(test::counter(join.activities, "power"), ElementsAre(Pair(5, 450.25)));
  EXPECT_THAT(test::counter(join.activities, "device_other_bytes"),
              UnorderedElementsAre(Pair(5, 5000), Pair(15, 5100), Pair(15, 9)));
  EXPECT_THAT(join.memory_sources,
              ElementsAre(Pair(0, GpuMemorySource::growth), Pair(1, GpuMemorySource::process)));
  for (const Activity& activity : of_kind(join.activities, ActivityKind::counter)) {
    EXPECT_EQ(activity.track.pid, 42);
    EXPECT_TRUE(activity.track.device.has_value());
    if (activity.name == "sm_clock") {
      EXPECT_EQ(activity.attributes.text(Attribute::value_unit), "Hz");
    }
    if (activity.name == "power") {
      EXPECT_EQ(activity.attributes.text(Attribute::value_unit), "W");
    }
  }
  EXPECT_THAT(join.notes,
              ElementsAre("the driver of device 1 does not report the clock, the power"));
  EXPECT_THAT(join.void_reasons, IsEmpty());
}

TEST(JoinReadings, WhatTheDriverDoesNotTellIsANoteAndNoCounter) {
  GpuScript script;
  script.add(reading(5));
  script.add(GpuNote{"no clock and power: NVML: not found"});
  const GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(of_kind(join.activities, ActivityKind::counter), IsEmpty());
  EXPECT_THAT(join.memory_sources, IsEmpty());
  EXPECT_THAT(
      join.notes,
      ElementsAre("no clock and power: NVML: not found",
                  "the driver of device 0 does not report the clock, the power, the memory of this "
                  "process"));
}

TEST(JoinReadings, AReadingBelowWhatIsAllocatedIsNoted) {
  GpuScript script;
  script.memory(GpuAllocationChange::allocation, 0x1000, 600, 10);
  GpuReading low = reading(15);
  low.sm_clock_hz = low.power_milliwatt = 1;
  low.memory = GpuProcessMemory{599, GpuMemorySource::growth};
  script.add(low);
  const GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(test::counter(join.activities, "device_other_bytes"), IsEmpty());
  EXPECT_THAT(join.notes, ElementsAre(HasSubstr("1 reading of the memory on device 0 is lower")));
}

}  // namespace
}  // namespace bench
