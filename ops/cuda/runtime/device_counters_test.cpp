// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/device_counters.hpp"

#include "ops/cuda/runtime/test_support.hpp"
#include "profiler/cupti/scripted_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace bench::ops::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Nanoseconds kKernelTime = std::chrono::microseconds(30);

class DeviceCountersTest : public testing::Test {
 protected:
  std::shared_ptr<DeviceCounters> counters() {
    return make_device_counters({.load = [this]() -> Result<CounterLibrary> {
                                   ++loads_;
                                   return bench::test::scripted_counters(
                                       bench::test::toolkit_counters(), script_);
                                 },
                                 .device = [this] { return counted_; }});
  }
  Result<CounterReadings, BackendError> measure() {
    Invocation* const rotation[] = {&one_, &two_};
    return counters_->measure(rotation);
  }
  BackendError error() {
    const auto measured = measure();
    EXPECT_FALSE(measured.ok());
    return measured.ok() ? BackendError{} : measured.error();
  }

  test::ScriptedDevice device_;
  test::ScriptedInvocation one_{*device_.runtime, "one", kKernelTime};
  test::ScriptedInvocation two_{*device_.runtime, "two", kKernelTime};
  bench::test::CounterScript script_;
  Result<CounterDevice> counted_ = CounterDevice{};
  int loads_ = 0;
  std::shared_ptr<DeviceCounters> counters_ = counters();
};

TEST_F(DeviceCountersTest, ExecutesTheRotationInTurnAndOnceBefore) {
  script_.passes_needed = 4;
  script_.values = {{"dram__bytes_read.sum", 4096}};
  const auto readings = measure();
  ASSERT_TRUE(readings.ok()) << readings.error().reason;
  EXPECT_EQ(find_value(*readings, LogicalCounter::dram_read_bytes), 4096);
  EXPECT_EQ(readings->size(), logical_counters().size());
  EXPECT_EQ(one_.executions, 3);
  EXPECT_EQ(two_.executions, 2);
}

// No CUPTI session stays open that the end of the process would have to close.
TEST_F(DeviceCountersTest, EachMeasurementEndsItsSession) {
  ASSERT_TRUE(measure().ok());
  ASSERT_TRUE(measure().ok());
  EXPECT_EQ(loads_, 1);
  EXPECT_EQ(std::count(script_.calls.begin(), script_.calls.end(), "initialize"), 2);
  EXPECT_EQ(std::count(script_.calls.begin(), script_.calls.end(), "deinitialize"), 2);
}

TEST_F(DeviceCountersTest, WhatIsNotPermittedIsUnsupportedAndSaysHow) {
  script_.results = {{"enable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES}};
  const BackendError refused = error();
  EXPECT_EQ(refused.kind, BackendError::Kind::unsupported);
  EXPECT_THAT(refused.reason, AllOf(HasSubstr("ERR_NVGPUCTRPERM"),
                                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST_F(DeviceCountersTest, AFailedExecutionIsAFailure) {
  device_.runtime->script.failing = {{"synchronise", 2}};
  const BackendError refused = error();
  EXPECT_EQ(refused.kind, BackendError::Kind::failed);
  EXPECT_THAT(refused.reason, HasSubstr("cudaErrorUnknown"));
}

TEST_F(DeviceCountersTest, NothingCountsWhereTheFirstExecutionFails) {
  device_.runtime->script.failing = {{"synchronise", 1}};
  EXPECT_EQ(error().kind, BackendError::Kind::failed);
  EXPECT_EQ(loads_, 0);
}

TEST_F(DeviceCountersTest, AMissingLibraryIsUnsupportedAtEveryCall) {
  counters_ = make_device_counters({.load = [this]() -> Result<CounterLibrary> {
                                      ++loads_;
                                      return Error{"cannot be loaded", "CUPTI", ""};
                                    },
                                    .device = [this] { return counted_; }});
  EXPECT_EQ(error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(error().reason, HasSubstr("cannot be loaded"));
  EXPECT_EQ(loads_, 1);
}

TEST_F(DeviceCountersTest, WithoutAContextThereIsNothingToCountOn) {
  counted_ = Error{"no context is current", "libcuda.so.1", ""};
  const BackendError refused = error();
  EXPECT_EQ(refused.kind, BackendError::Kind::failed);
  EXPECT_THAT(refused.reason, HasSubstr("no context is current"));
}

TEST_F(DeviceCountersTest, AnEmptyRotationIsRefused) {
  EXPECT_EQ(counters_->measure({}).error().kind, BackendError::Kind::failed);
}

// This test runs without a driver: nothing has loaded one.
TEST(CurrentCounterDevice, IsNotThereWithoutADriver) {
  const auto device = current_counter_device();
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message(), HasSubstr("libcuda.so.1"));
}

}  // namespace
}  // namespace bench::ops::cuda
