// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DeviceConditions quiet() {
  DeviceConditions conditions;
  conditions.at = 1s;
  conditions.power_cap = conditions.sync_boost = conditions.software_thermal = 5s;
  conditions.hardware_thermal = conditions.power_brake = 5s;
  conditions.clock_reasons = 0;
  conditions.performance_state = 0;
  conditions.other_processes = 0;
  conditions.memory_errors = 3;
  conditions.xid_errors = {79};  // before the sample
  return conditions;
}

// Judges a sample of 100 ms with a change.
SampleAssessment judged(const std::function<void(DeviceConditions&)>& change,
                        const ClockEvidence& clock = {}) {
  DeviceConditions after = quiet();
  after.at += 100ms;
  change(after);
  return judge(quiet(), after, clock);
}

struct Rule {
  std::function<void(DeviceConditions&)> change;
  SampleVerdict verdict;
  const char* reason;
};

TEST(Conditions, EachHasItsVerdict) {
  const Rule rules[] = {
      {[](auto&) {}, SampleVerdict::counted, ""},
      {[](auto& now) { now.hardware_thermal = 5s + 1ns; }, SampleVerdict::voided,
       "too hot for 1 ns"},
      {[](auto& now) { now.power_brake = 5s + 2ms; }, SampleVerdict::voided, "power brake"},
      {[](auto& now) { now.clock_reasons = 0x8; }, SampleVerdict::voided, "slowed the clock down"},
      {[](auto& now) { now.clock_reasons = 0x40; }, SampleVerdict::voided, "too hot"},
      {[](auto& now) { now.other_processes = 1; }, SampleVerdict::voided,
       "1 other process computed"},
      {[](auto& now) { now.other_processes = 2; }, SampleVerdict::voided, "2 other processes"},
      {[](auto& now) { now.performance_state = 2; }, SampleVerdict::voided, "from P0 to P2"},
      {[](auto& now) { now.memory_errors = 4; }, SampleVerdict::voided, "ECC"},
      // 1 %, which is not more than the limit
      {[](auto& now) { now.power_cap = 5s + 1ms; }, SampleVerdict::counted, ""},
      {[](auto& now) { now.power_cap = 5s + 2ms; }, SampleVerdict::throttled,
       "power limit for 2.000 ms"},
      {[](auto& now) {
         now.xid_errors = {79, 13, 31};
       },
       SampleVerdict::voided, "critical error: Xid 13 (graphics engine exception)"},
      {[](auto& now) {
         now.xid_errors = {79, 12345};
       },
       SampleVerdict::voided, "Xid 12345"},
      {[](auto& now) { now.xid_errors.reset(); }, SampleVerdict::counted, ""},
      {[](auto& now) { now.software_thermal = 6s; }, SampleVerdict::throttled, "temperature"},
      {[](auto& now) { now.sync_boost = 6s; }, SampleVerdict::throttled, "another device's"},
      {[](auto& now) { now.clock_reasons = 0x4; }, SampleVerdict::throttled, "power limit"},
      {[](auto& now) { now.clock_reasons = 0x1 | 0x2; }, SampleVerdict::counted, ""},
      {[](auto& now) { now.power_cap = 1s; }, SampleVerdict::counted, ""},  // the counter was reset
  };
  for (const Rule& rule : rules) {
    const SampleAssessment judgement = judged(rule.change);
    EXPECT_EQ(judgement.verdict, rule.verdict) << rule.reason;
    EXPECT_THAT(judgement.reason, HasSubstr(rule.reason));
    EXPECT_EQ(judgement.reason.empty(), rule.verdict == SampleVerdict::counted);
  }
}

TEST(Conditions, WhatVoidsComesBeforeWhatThrottles) {
  const auto judgement = judged([](auto& now) {
    now.power_cap = 6s;
    now.hardware_thermal = 6s;
  });
  EXPECT_EQ(judgement.verdict, SampleVerdict::voided);
}

TEST(Conditions, TheClockIsComparedWithThatOfTheSamplesBefore) {
  const auto same = [](auto&) {};
  EXPECT_EQ(judged(same, {1'400'000'000, 2'000'000'000}).verdict, SampleVerdict::unsteady);
  EXPECT_EQ(judged(same, {1'810'000'000, 2'000'000'000}).verdict, SampleVerdict::unsteady);
  EXPECT_EQ(judged(same, {1'950'000'000, 2'000'000'000}).verdict, SampleVerdict::counted);
  EXPECT_EQ(judged(same, {2'100'000'000, 2'000'000'000}).verdict, SampleVerdict::unsteady);
  EXPECT_EQ(judged(same, {1'000'000'000, std::nullopt}).verdict, SampleVerdict::counted);
  EXPECT_EQ(judged(same, {std::nullopt, 2'000'000'000}).verdict, SampleVerdict::counted);
}

TEST(Conditions, WhatIsUnknownSaysNothing) {
  EXPECT_EQ(judge({}, {}, {}).verdict, SampleVerdict::counted);
  DeviceConditions conditions = quiet();
  EXPECT_EQ(judge({}, conditions, {}).verdict, SampleVerdict::counted);
  EXPECT_THAT(unknown_conditions(conditions), IsEmpty());
  conditions.power_brake.reset();
  conditions.other_processes.reset();
  conditions.xid_errors.reset();
  EXPECT_THAT(unknown_conditions(conditions),
              ElementsAre("time of power brakes", "other processes", "critical errors (Xid)"));
}

TEST(ClockHistory, HasAMedianOnceThereAreEnough) {
  ClockHistory history;
  for (const std::int64_t clock : {5, 1, 4, 2}) history.add(clock);
  EXPECT_EQ(history.median(), std::nullopt);
  history.add(3);
  EXPECT_EQ(history.median(), 3);
  for (int i = 0; i < 200; ++i) history.add(7);  // only the latest count
  EXPECT_EQ(history.median(), 7);
}

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
