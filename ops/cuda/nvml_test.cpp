// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

SearchStep fake_nvml(const std::string& folder) {
  return {std::string(BENCH_FAKE_LIBRARIES) + "/" + folder, "a test"};
}

TEST(Nvml, ReadsWhatTheLibrarySaysOfADevice) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  EXPECT_EQ(nvml->driver_version(), "580.82.07");
  EXPECT_EQ(nvml->library_version(), "13.580.82.07");
  const auto facts = nvml->facts("0000:1B:00.0");
  ASSERT_TRUE(facts.ok());
  NvmlProperties expected;
  expected.ecc = true;
  expected.persistence = true;
  expected.sm_clock_mhz = 1755;
  expected.sm_clock_limit_mhz = 1980;
  expected.memory_clock_mhz = 2619;
  expected.memory_clock_limit_mhz = 3201;
  expected.temperature_celsius = 41;
  expected.power_milliwatt = 123456;
  expected.power_limit_milliwatt = 700000;
  expected.performance_state = 0;
  expected.clock_reasons = 0x424;  // by the name that older drivers use
  EXPECT_EQ(*facts, expected);     // mig is nullopt: not supported means unknown, not "off"
}

TEST(Nvml, ReadsTheEnergyOfAKnownDevice) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  EXPECT_EQ(nvml->energy_millijoule("0000:1B:00.0"), 123456789);
  EXPECT_EQ(nvml->energy_millijoule("0000:2B:00.0"), std::nullopt);
}

TEST(Nvml, ReadsCountersAndProcesses) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  const auto counters = nvml->counters("0000:1B:00.0");
  ASSERT_TRUE(counters.ok()) << counters.error().message();
  EXPECT_EQ(counters->power_cap, 1'000'000'000'074);
  EXPECT_EQ(counters->software_thermal, 1'000'000'000'251);
  EXPECT_EQ(counters->hardware_thermal, 1'000'000'000'252);
  EXPECT_EQ(counters->power_brake, std::nullopt);  // not supported means unknown, not 0
  EXPECT_EQ(counters->sync_boost, std::nullopt);
  EXPECT_EQ(counters->power_milliwatt, 654321);
  EXPECT_EQ(counters->memory_errors, 2);
  ASSERT_TRUE(counters->processes);
  ASSERT_EQ(counters->processes->size(), 20u);
  EXPECT_EQ(counters->processes->back(), 1019);
  EXPECT_FALSE(nvml->counters("0000:99:00.0").ok());
}

TEST(Nvml, ReadsWhatChangesAllTheTime) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  const auto reading = nvml->reading("0000:1B:00.0");
  ASSERT_TRUE(reading.ok()) << reading.error().message();
  EXPECT_EQ(reading->sm_clock_mhz, 1755);
  EXPECT_EQ(reading->power_milliwatt, 654321);  // at this moment, not the average
  EXPECT_EQ(reading->memory_used_bytes, std::int64_t{1} << 30);
  ASSERT_TRUE(reading->processes);
  ASSERT_EQ(reading->processes->size(), 20u);
  EXPECT_EQ(reading->processes->front(), (NvmlProcessMemory{1000, std::nullopt}));
  EXPECT_EQ(reading->processes->at(3), (NvmlProcessMemory{1003, 3 << 20}));
  EXPECT_FALSE(nvml->reading("0000:99:00.0").ok());
}

TEST(Nvml, TellsCriticalErrorsOnce) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  auto events = nvml->watch_xids("0000:1B:00.0");
  ASSERT_TRUE(events.ok()) << events.error().message();
  EXPECT_THAT(events->take(), Optional(IsEmpty()));
  const auto library = DynamicLibrary::load(nvml->path());
  ASSERT_TRUE(library.ok()) << library.error();
  auto* const raise = library->function<void(unsigned long long)>("fake_nvml_raise_xid");
  ASSERT_NE(raise, nullptr);
  raise(13);
  EXPECT_THAT(events->take(), Optional(ElementsAre(13)));
  EXPECT_THAT(events->take(), Optional(IsEmpty()));
  EXPECT_FALSE(nvml->watch_xids("0000:99:00.0").ok());
}

// Ids that the driver does not have would be read as other counters.
TEST(Nvml, TakesTheNumbersOfCountersOfTheDriver) {
  EXPECT_EQ(find_throttling_fields("570.124.06"), std::nullopt);
  EXPECT_EQ(find_throttling_fields("575.51.03"), (ThrottlingFields{251, 252, 253}));
  EXPECT_EQ(find_throttling_fields("580.82.07"), (ThrottlingFields{251, 252, 253}));
  EXPECT_EQ(find_throttling_fields("590.44.01"), (ThrottlingFields{269, 270, 271}));
  EXPECT_EQ(find_throttling_fields("610.10"), (ThrottlingFields{269, 270, 271}));
  EXPECT_EQ(find_throttling_fields("unknown"), std::nullopt);
}

TEST(Nvml, DoesNotKnowAnotherBusId) {
  const SearchStep step = fake_nvml("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok());
  const auto facts = nvml->facts("0000:99:00.0");
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().what, "NVML error 6 (Not Found)");
}

TEST(Nvml, WithoutADriverSaysWhy) {
  const SearchStep step = fake_nvml("other");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().reason, "NVML error 9 (Driver Not Loaded)");
}

TEST(Nvml, ThatIsNotThere) {
  const SearchStep step{"/nowhere", "a test"};
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_FALSE(nvml.ok());
  EXPECT_THAT(nvml.error().reason, HasSubstr("libnvidia-ml.so.1 was not found"));
}

TEST(ClockReasons, AsWords) {
  EXPECT_THAT(clock_reason_names(0x424), ElementsAre("power cap", "hot (software)", "0x400"));
  EXPECT_THAT(clock_reason_names(0), IsEmpty());
}

}  // namespace
}  // namespace bench::ops::cuda
