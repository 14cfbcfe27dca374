// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/nvml_conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using testing::HasSubstr;

std::function<Result<std::string>()> at_bus(const std::string& id) {
  return [id]() -> Result<std::string> { return id; };
}

TEST(StateOf, TakesTheProcessOutOfTheList) {
  NvmlReading reading;
  reading.sm_clock_mhz = 1755;
  reading.power_milliwatt = 450'000;
  reading.memory_used_bytes = 9'000;
  reading.processes = {{11, 700}, {12, std::nullopt}};
  const DeviceState own = to_device_state(reading, 11);
  EXPECT_EQ(own.sm_clock_hz, 1'755'000'000);
  EXPECT_EQ(own.power_milliwatt, 450'000);
  EXPECT_EQ(own.used_bytes, 9'000);
  EXPECT_EQ(own.process_bytes, 700);
  EXPECT_EQ(to_device_state(reading, 12).process_bytes, std::nullopt);  // listed without its memory
  EXPECT_EQ(to_device_state(reading, 13).process_bytes,
            std::nullopt);  // an id of another namespace
}

TEST(StateOf, WhatNvmlDoesNotSayIsAbsent) {
  const DeviceState state = to_device_state({}, 11);
  EXPECT_FALSE(state.sm_clock_hz || state.power_milliwatt || state.used_bytes ||
               state.process_bytes);
}

TEST(ReadingsByNvml, AskTheLibrary) {
  const auto reader = readings_by_nvml(
      {{std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"}}, at_bus("0000:1B:00.0"))();
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  const auto state = (*reader)();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->sm_clock_hz, 1'755'000'000);
  EXPECT_EQ(state->power_milliwatt, 654'321);
  EXPECT_EQ(state->used_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(state->process_bytes, std::nullopt);  // this process is not among its twenty
}

TEST(ReadingsByNvml, SayWhyThereAreNone) {
  const auto nowhere = readings_by_nvml({{"/nowhere", "a test"}}, at_bus("0000:1B:00.0"))();
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.error().message(), HasSubstr("libnvidia-ml.so.1 was not found"));
  const std::vector<SearchStep> search = {
      {std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"}};
  const auto unknown = readings_by_nvml(search, at_bus("0000:99:00.0"))();
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(), HasSubstr("Not Found"));
  const auto no_device = readings_by_nvml(search, []() -> Result<std::string> {
    return Error{"no device", "", ""};
  })();
  ASSERT_FALSE(no_device.ok());
  EXPECT_EQ(no_device.error().message(), "no device");
}

}  // namespace
}  // namespace bench::ops::cuda
