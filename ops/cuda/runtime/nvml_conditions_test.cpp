// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/nvml_conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <sys/types.h>
#include <unistd.h>

namespace bench::ops::cuda {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kGone = 99;

// 1 is the ancestor of all, 10 the coordinator, 11 this worker, 12 its sibling.
ProcessFamily family() {
  return {
      11, 10,
      [](std::int64_t pid) -> std::optional<std::int64_t> {
        const std::map<std::int64_t, std::int64_t> parents = {{10, 1}, {11, 10}, {12, 10}, {20, 1}};
        const auto found = parents.find(pid);
        return found == parents.end() ? std::nullopt : std::optional(found->second);
      },
      [](std::int64_t pid) { return pid == kGone; }};
}

TEST(ForeignProcesses, AreNotTheWorkersOfOneRun) {
  EXPECT_EQ(foreign_processes({11}, family()), 0);
  EXPECT_EQ(foreign_processes({10, 11, 12}, family()), 0);
  EXPECT_EQ(foreign_processes({11, 20}, family()), 1);
  EXPECT_EQ(foreign_processes({11, 20, 77}, family()), 2);  // 77 cannot be queried
}

// NVML lists an earlier worker for a moment after its end. Samples were
// discarded for that earlier.
TEST(ForeignProcesses, OneThatHasJustGoneIsNone) {
  EXPECT_EQ(foreign_processes({11, kGone}, family()), 0);
  EXPECT_EQ(foreign_processes({11, kGone, 20}, family()), 1);
  EXPECT_FALSE(own_family().is_gone(getpid()));
  EXPECT_FALSE(own_family().is_gone(1));  // even if access to it is denied
  EXPECT_TRUE(own_family().is_gone(std::numeric_limits<pid_t>::max()));
}

TEST(ForeignProcesses, AreUnknownWhereWeAreNotAmongThem) {
  EXPECT_EQ(foreign_processes({}, family()), std::nullopt);
  EXPECT_EQ(foreign_processes({4711, 4712}, family()), std::nullopt);
}

TEST(OwnFamily, IsReadFromProc) {
  const ProcessFamily own = own_family();
  EXPECT_EQ(own.own, getpid());
  EXPECT_EQ(own.parent_of(getpid()), getppid());
  EXPECT_EQ(own.parent_of(-1), std::nullopt);
}

TEST(ConditionsOf, AreTheCounters) {
  NvmlCounters counters;
  counters.power_cap = 5;
  counters.hardware_thermal = 7;
  counters.performance_state = 0;
  counters.processes = {11, 20};
  const DeviceConditions conditions = to_conditions(counters, family());
  EXPECT_EQ(conditions.power_cap, Nanoseconds(5));
  EXPECT_EQ(conditions.hardware_thermal, Nanoseconds(7));
  EXPECT_EQ(conditions.power_brake, std::nullopt);
  EXPECT_EQ(conditions.other_processes, 1);
}

TEST(WatchByNvml, AsksTheLibrary) {
  const SearchStep step{std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"};
  Nanoseconds now{1};
  ConditionWatch watch =
      watch_by_nvml(std::span(&step, 1), "0000:1B:00.0", [&] { return now += Nanoseconds(1); });
  EXPECT_EQ(watch.unknown_conditions(), "");
  watch.sample_begins();
  // The power limit throttles the fake's device at every moment.
  EXPECT_EQ(watch.sample_ends({}).verdict, SampleVerdict::throttled);
  // This process is not among its twenty processes.
  EXPECT_EQ(watch.unknown_conditions(), "time of power brakes, other processes");
}

TEST(WatchByNvml, ACriticalErrorVoidsTheSampleInWhichItCame) {
  const std::string folder = std::string(BENCH_FAKE_LIBRARIES) + "/complete";
  const SearchStep step{folder, "a test"};
  Nanoseconds now{1};
  ConditionWatch watch =
      watch_by_nvml(std::span(&step, 1), "0000:1B:00.0", [&] { return now += Nanoseconds(1); });
  const auto library = DynamicLibrary::load(folder + "/libnvidia-ml.so.1");
  ASSERT_TRUE(library.ok()) << library.error();
  auto* const raise = library->function<void(unsigned long long)>("fake_nvml_raise_xid");
  ASSERT_NE(raise, nullptr);
  watch.sample_begins();
  raise(79);
  const SampleAssessment judgement = watch.sample_ends({});
  EXPECT_EQ(judgement.verdict, SampleVerdict::voided);
  EXPECT_EQ(judgement.reason,
            "the driver reported a critical error: Xid 79 (the device has fallen off the bus)");
  watch.sample_begins();
  EXPECT_NE(watch.sample_ends({}).verdict, SampleVerdict::voided);  // reported only once
}

TEST(WatchByNvml, SaysWhyNothingIsKnown) {
  const SearchStep nowhere{"/nowhere", "a test"};
  const auto clock = [] { return Nanoseconds(1); };
  EXPECT_THAT(watch_by_nvml(std::span(&nowhere, 1), "0000:1B:00.0", clock).unknown_conditions(),
              HasSubstr("libnvidia-ml.so.1 was not found"));
  const SearchStep step{std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"};
  EXPECT_THAT(watch_by_nvml(std::span(&step, 1), "0000:99:00.0", clock).unknown_conditions(),
              HasSubstr("Not Found"));
}

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
