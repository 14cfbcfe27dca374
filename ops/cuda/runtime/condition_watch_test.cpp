// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/condition_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A driver whose answers take `cost`, and which counts its queries.
struct WatchedDriver {
  Nanoseconds now{1s};
  Nanoseconds cost{50us};
  DeviceConditions conditions{};
  int readings = 0;
  bool silent = false;

  ConditionWatch watch() {
    return {[this]() -> std::optional<DeviceConditions> {
              ++readings;
              now += cost;
              if (silent) return std::nullopt;
              return conditions;
            },
            "", [this] { return now; }};
  }
};

SampleAssessment sample(WatchedDriver& driver, ConditionWatch& watch, Nanoseconds length,
                        int processes = 0) {
  watch.sample_begins();
  driver.now += length;
  driver.conditions.other_processes = processes;
  return watch.sample_ends({});
}

TEST(ConditionWatch, QuickReadingsStandBetweenSamples) {
  WatchedDriver driver;
  ConditionWatch watch = driver.watch();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sample(driver, watch, 1ms).verdict, SampleVerdict::counted);
  }
  EXPECT_EQ(driver.readings, 5);
  EXPECT_EQ(watch.interval(), 0ns);
  EXPECT_EQ(sample(driver, watch, 1ms, 1).verdict, SampleVerdict::voided);
}

TEST(ConditionWatch, OldReadingsAreTakenAgain) {
  WatchedDriver driver;
  ConditionWatch watch = driver.watch();
  sample(driver, watch, 1ms);
  driver.now += 1s;  // other work
  sample(driver, watch, 1ms);
  EXPECT_EQ(driver.readings, 4);
}

// A reading takes 5 ms: two readings in 210 ms take less than a twentieth of the time.
TEST(ConditionWatch, SlowReadingsAreTakenSeldomAndInPairs) {
  WatchedDriver driver;
  driver.cost = 5ms;
  ConditionWatch watch = driver.watch();
  EXPECT_EQ(sample(driver, watch, 1ms, 1).verdict, SampleVerdict::voided);
  EXPECT_EQ(driver.readings, 2);
  EXPECT_EQ(watch.interval(), 200ms);
  for (int i = 0; i < 100; ++i) {
    // no reading was made
    EXPECT_EQ(sample(driver, watch, 1ms, 1).verdict, SampleVerdict::counted);
  }
  EXPECT_EQ(driver.readings, 2);
  driver.now += 200ms;
  EXPECT_EQ(sample(driver, watch, 1ms, 1).verdict, SampleVerdict::voided);
  EXPECT_EQ(driver.readings, 4);
}

// On an H100, readings were slow, and most samples at the power cap counted as not throttled.
TEST(ConditionWatch, WhatThrottledTheLastReadingHoldsUntilTheNext) {
  constexpr std::int64_t kPowerCap = 0x4;  // a bit of clock_reason_names()
  WatchedDriver driver;
  driver.cost = 5ms;
  driver.conditions.clock_reasons = kPowerCap;
  ConditionWatch watch = driver.watch();
  EXPECT_EQ(sample(driver, watch, 1ms).verdict, SampleVerdict::throttled);
  watch.sample_begins();
  const SampleAssessment unread = watch.sample_ends({1'400'000'000, 1'570'000'000});
  EXPECT_EQ(unread.verdict, SampleVerdict::throttled);
  EXPECT_EQ(unread.reason, "the clock was throttled by the power limit when it was last read");
  EXPECT_EQ(driver.readings, 2);
  driver.conditions.clock_reasons = 0;
  driver.now += 200ms;
  EXPECT_EQ(sample(driver, watch, 1ms).verdict, SampleVerdict::counted);
  EXPECT_EQ(sample(driver, watch, 1ms).verdict, SampleVerdict::counted);
}

TEST(ConditionWatch, JudgesByTheClockWhereNothingElseIsKnown) {
  ConditionWatch watch({}, "NVML: libnvidia-ml.so.1 was not found", [] { return Nanoseconds(1); });
  watch.sample_begins();
  EXPECT_EQ(watch.sample_ends({1'000, 2'000}).verdict, SampleVerdict::unsteady);
  EXPECT_EQ(watch.unknown_conditions(), "everything: NVML: libnvidia-ml.so.1 was not found");
}

TEST(ConditionWatch, ADriverThatFallsSilentIsNotHeldAgainstTheSample) {
  WatchedDriver driver;
  ConditionWatch watch = driver.watch();
  watch.sample_begins();
  driver.silent = true;
  EXPECT_EQ(watch.sample_ends({}).verdict, SampleVerdict::counted);
}

TEST(ConditionWatch, NamesWhatTheDriverDoesNotSay) {
  WatchedDriver driver;
  driver.conditions.power_cap = 1s;
  ConditionWatch watch = driver.watch();
  EXPECT_EQ(watch.unknown_conditions(), "");  // nothing was queried yet
  sample(driver, watch, 1ms);
  EXPECT_THAT(watch.unknown_conditions(), HasSubstr("time throttled by temperature"));
  EXPECT_THAT(watch.unknown_conditions(), testing::Not(HasSubstr("power limit")));
}

}  // namespace
}  // namespace bench::ops::cuda
