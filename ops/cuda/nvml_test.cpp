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

SearchStep fakes(const std::string& folder) {
  return {std::string(BENCH_FAKE_LIBRARIES) + "/" + folder, "a test"};
}

TEST(Nvml, ReadsWhatTheLibrarySaysOfADevice) {
  const SearchStep step = fakes("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok()) << nvml.error().reason;
  EXPECT_EQ(nvml->driver_version(), "580.82.07");
  EXPECT_EQ(nvml->library_version(), "13.580.82.07");
  const auto facts = nvml->facts("0000:1B:00.0");
  ASSERT_TRUE(facts.ok());
  NvmlFacts expected;
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
  expected.clock_reasons = 0x424;  // by the name that older drivers know
  EXPECT_EQ(*facts, expected);     // mig is absent: not supported is unknown, not "off"
}

TEST(Nvml, DoesNotKnowAnotherBusId) {
  const SearchStep step = fakes("complete");
  const auto nvml = Nvml::open(std::span(&step, 1));
  ASSERT_TRUE(nvml.ok());
  const auto facts = nvml->facts("0000:99:00.0");
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.error().what, "NVML error 6 (Not Found)");
}

TEST(Nvml, WithoutADriverSaysWhy) {
  const SearchStep step = fakes("other");
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
