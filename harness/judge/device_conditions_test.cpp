// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

MeasuredCase usual() {
  MeasuredCase measured;
  measured.device = {{"gpu.name", "NVIDIA H200"}, {"gpu.driver", "580.82.07"}, {"gpu.ecc", "on"}};
  measured.clock_hz = 1'700'000'000;
  measured.sample_method = "stream";
  return measured;
}

std::optional<std::string> against_usual(const MeasuredCase& other) {
  return device_difference(usual(), other, {"in the store", "here"});
}

TEST(DeviceConditions, EqualOnesCompare) { EXPECT_FALSE(against_usual(usual())); }

TEST(DeviceConditions, ASideWithoutADeviceComparesWithAny) {
  MeasuredCase other = usual();
  other.clock_hz = 1;
  other.device.reset();
  EXPECT_FALSE(against_usual(other));
}

TEST(DeviceConditions, EveryFieldIsNamedWithBothValues) {
  MeasuredCase other = usual();
  (*other.device)["gpu.name"] = "NVIDIA H100";
  EXPECT_EQ(against_usual(other), "gpu.name differs: NVIDIA H200 in the store, NVIDIA H100 here");
  other = usual();
  (*other.device)["gpu.driver"] = "575.10";
  EXPECT_EQ(against_usual(other), "gpu.driver differs: 580.82.07 in the store, 575.10 here");
  (*other.device)["gpu.driver"] = "580.99";  // same driver series
  EXPECT_FALSE(against_usual(other));
  (*other.device)["gpu.ecc"] = "off";
  EXPECT_EQ(against_usual(other), "gpu.ecc differs: on in the store, off here");
  other = usual();
  (*other.device)["gpu.mig"] = "on";
  EXPECT_EQ(against_usual(other), "gpu.mig differs: n/a in the store, on here");
  other = usual();
  other.flags = {Flag::throttled};
  EXPECT_EQ(against_usual(other), "throttled differs: no in the store, yes here");
  other = usual();
  other.sample_method = "graph";
  EXPECT_EQ(against_usual(other), "sample_method differs: stream in the store, graph here");
}

TEST(DeviceConditions, ClocksMayDifferByThreePercent) {
  MeasuredCase other = usual();
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

}  // namespace
}  // namespace bench
