// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/device_readings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

// Lets the thread read when the test requests it, and returns when it has.
class HandPacer final : public Pacer {
 public:
  bool wait(Nanoseconds period) override {
    std::unique_lock lock(mutex_);
    asked = period;
    idle_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !idle_ || stopped_; });
    return !stopped_;
  }
  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  void next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return idle_; });
    idle_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return idle_; });
  }

  Nanoseconds asked{0};  // set after next()

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool idle_ = false;  // in wait()
  bool stopped_ = false;
};

// A driver whose answers take `cost`, on a clock that nothing else advances.
struct ReadingsDriver {
  DeviceReadings readings() {
    return {[this]() -> Result<StateReader> {
              if (!absence.empty()) return Error{absence, "NVML", ""};
              return StateReader([this]() -> std::optional<DeviceState> {
                now += cost;
                if (silent) return std::nullopt;
                return state;
              });
            },
            pacer, [this] { return now; }};
  }

  Nanoseconds now{1000};
  Nanoseconds cost{0};
  DeviceState state{1'755'000'000, 450'000, 5'000, std::nullopt};
  bool silent = false;
  std::string absence;
  std::shared_ptr<HandPacer> pacer = std::make_shared<HandPacer>();
};

GpuReading at(std::int64_t time, std::int64_t clock, std::int64_t grown) {
  return {0, Nanoseconds(time), clock, 450'000, GpuProcessMemory{grown, GpuMemorySource::growth}};
}

TEST(DeviceReadings, StandAtTheWindowsBeginEveryPeriodAndAtItsEnd) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  readings.begin();
  driver.pacer->next();  // the reading of the warm-up
  EXPECT_EQ(driver.pacer->asked, 10ms);
  driver.now = 2000ns;
  driver.state.used_bytes = 5'100;
  readings.open_window();
  driver.now = 3000ns;
  driver.state.sm_clock_hz = 1'980'000'000;
  driver.pacer->next();
  driver.now = 4000ns;
  driver.state.used_bytes = 5'000;
  EXPECT_THAT(readings.finish(), ElementsAre(GpuRecord(at(2000, 1'755'000'000, 100)),
                                             GpuRecord(at(3000, 1'980'000'000, 100)),
                                             GpuRecord(at(4000, 1'980'000'000, 0))));
}

TEST(DeviceReadings, TheDriversCountOfTheProcessOutranksWhatHasGrown) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  readings.begin();
  driver.state.process_bytes = 77;
  readings.open_window();
  const auto records = readings.finish();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(std::get<GpuReading>(records[0]).memory,
            (GpuProcessMemory{77, GpuMemorySource::process}));
}

// Another process freed memory: this process's memory is then unknown, not 0.
TEST(DeviceReadings, WhatHasShrunkSaysNothingOfUs) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  readings.begin();
  driver.state.used_bytes = 4'999;
  readings.open_window();
  const auto records = readings.finish();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_FALSE(std::get<GpuReading>(records[0]).memory.has_value());
  EXPECT_TRUE(std::get<GpuReading>(records[0]).sm_clock_hz.has_value());
}

// A reading takes 1 ms, which is a twentieth of 20 ms.
TEST(DeviceReadings, SlowAnswersAreAskedForLessOften) {
  ReadingsDriver driver;
  driver.cost = 1ms;
  DeviceReadings readings = driver.readings();
  readings.begin();
  driver.pacer->next();
  EXPECT_EQ(driver.pacer->asked, 20ms);
}

TEST(DeviceReadings, AreAbsentWithTheReasonWhereNobodyCanBeAsked) {
  ReadingsDriver driver;
  driver.absence = "libnvidia-ml.so.1 was not found";
  DeviceReadings readings = driver.readings();
  readings.begin();
  readings.open_window();
  EXPECT_THAT(readings.finish(),
              ElementsAre(GpuRecord(GpuNote{"clock, power and memory of the device are unknown: "
                                            "NVML: libnvidia-ml.so.1 was not found"})));
}

TEST(DeviceReadings, ADriverThatFallsSilentIsNamed) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  readings.begin();
  driver.silent = true;
  readings.open_window();
  EXPECT_THAT(readings.finish(),
              ElementsAre(GpuRecord(GpuNote{"clock, power and memory of the device are unknown: "
                                            "the driver no longer answers"})));
}

TEST(DeviceReadings, OfALongTraceAreFurtherApart) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  readings.begin();
  readings.open_window();
  for (int i = 1; i < 20'000; ++i) driver.pacer->next();
  EXPECT_EQ(driver.pacer->asked, 20ms);
  EXPECT_THAT(readings.finish(), SizeIs(10'001));
}

TEST(DeviceReadings, NothingIsAskedBeforeTheyBegin) {
  ReadingsDriver driver;
  DeviceReadings readings = driver.readings();
  EXPECT_THAT(readings.finish(), SizeIs(0));
  EXPECT_EQ(driver.now, 1000ns);
}

// The wait ends immediately, however long the period is.
TEST(Pacer, IsStoppedFromAnotherThread) {
  const auto pacer = make_pacer();
  bool went_on = true;
  std::thread waiting([&] { went_on = pacer->wait(std::chrono::hours(24)); });
  pacer->stop();
  waiting.join();
  EXPECT_FALSE(went_on);
  EXPECT_FALSE(pacer->wait(std::chrono::hours(24)));
}

TEST(Pacer, GoesOnAfterThePeriod) { EXPECT_TRUE(make_pacer()->wait(1ns)); }

}  // namespace
}  // namespace bench::ops::cuda
