// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

DeviceConditions conditions() {
  return {{{"gpu.name", "NVIDIA H200"}, {"gpu.driver", "580.82.07"}, {"gpu.ecc", "on"}},
          1'700'000'000,
          false,
          "stream"};
}

std::optional<std::string> against_usual(const DeviceConditions& other) {
  return device_difference(conditions(), other, {"in the store", "here"});
}

TEST(DeviceConditions, EqualOnesCompare) { EXPECT_FALSE(against_usual(conditions())); }

TEST(DeviceConditions, EveryFieldIsNamedWithBothValues) {
  DeviceConditions other = conditions();
  other.facts["gpu.name"] = "NVIDIA H100";
  EXPECT_EQ(against_usual(other), "gpu.name differs: NVIDIA H200 in the store, NVIDIA H100 here");
  other = conditions();
  other.facts["gpu.driver"] = "575.10";
  EXPECT_EQ(against_usual(other), "gpu.driver differs: 580.82.07 in the store, 575.10 here");
  other.facts["gpu.driver"] = "580.99";  // same driver series
  EXPECT_FALSE(against_usual(other));
  other.facts["gpu.ecc"] = "off";
  EXPECT_EQ(against_usual(other), "gpu.ecc differs: on in the store, off here");
  other = conditions();
  other.facts["gpu.mig"] = "on";
  EXPECT_EQ(against_usual(other), "gpu.mig differs: n/a in the store, on here");
  other = conditions();
  other.throttled = true;
  EXPECT_EQ(against_usual(other), "throttled differs: no in the store, yes here");
  other = conditions();
  other.sample_method = "graph";
  EXPECT_EQ(against_usual(other), "sample_method differs: stream in the store, graph here");
}

TEST(DeviceConditions, ClocksMayDifferByThreePercent) {
  DeviceConditions other = conditions();
  other.clock_hz = 1'751'000'000;
  EXPECT_FALSE(against_usual(other));
  other.clock_hz = 1'752'000'000;
  EXPECT_EQ(against_usual(other),
            "clock_hz differs: 1.70 GHz in the store, 1.75 GHz here, 3.1 % apart");
  other.clock_hz = 1'600'000'000;
  EXPECT_EQ(against_usual(other),
            "clock_hz differs: 1.70 GHz in the store, 1.60 GHz here, 6.2 % apart");
  other.clock_hz.reset();
  EXPECT_FALSE(against_usual(other));
}

TEST(DeviceConditions, AreOfCasesOnADevice) {
  EnvironmentRecord environment;
  environment.details = {{"gpu.name", "NVIDIA H200"}, {"gpu.uuid", "GPU-1"}, {"governor", "x"}};
  CaseRecord record;
  record.id = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";
  record.flags = {Flag::throttled};
  record.clock_hz = 5;
  record.sample_method = "graph";
  const auto found = device_conditions(record, environment);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->facts, (std::map<std::string, std::string>{{"gpu.name", "NVIDIA H200"}}));
  EXPECT_TRUE(found->throttled);
  EXPECT_EQ(found->clock_hz, 5);
  EXPECT_EQ(found->sample_method, "graph");
  for (const char* id : {"gemm/forward/m4n4k4/f32/onednn/cpu/hot", "a"}) {
    record.id = id;
    EXPECT_FALSE(device_conditions(record, environment)) << id;
  }
}

}  // namespace
}  // namespace bench
