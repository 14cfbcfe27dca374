// SPDX-License-Identifier: Apache-2.0
#include "harness/host/energy_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace bench {
namespace {

using testing::HasSubstr;

constexpr const char* kRoot = "/sys/class/powercap/";

// A scripted /sys: contents by path; a path without contents fails with its code.
class EnergyMeterTest : public testing::Test {
 protected:
  void add_zone(const std::string& zone, const std::string& name, std::int64_t energy,
                std::int64_t range = 262'143'328'850) {
    const std::string folder = kRoot + zone + "/";
    zones_.push_back(zone);
    contents_[folder + "name"] = name + "\n";
    contents_[folder + "energy_uj"] = std::to_string(energy) + "\n";
    contents_[folder + "max_energy_range_uj"] = std::to_string(range) + "\n";
  }
  void set_energy(const std::string& zone, std::int64_t energy) {
    contents_[kRoot + zone + "/energy_uj"] = std::to_string(energy) + "\n";
  }
  EnergyMeterResult open() {
    return open_powercap_meter(
        {[this](const std::string& folder) {
           return folder == kRoot ? zones_ : std::vector<std::string>();
         },
         [this](const std::string& path) -> Result<std::string, EnergyFiles::Failure> {
           if (const auto code = failures_.find(path); code != failures_.end()) {
             return EnergyFiles::Failure{code->second};
           }
           const auto found = contents_.find(path);
           if (found == contents_.end()) return EnergyFiles::Failure{ENOENT};
           return found->second;
         }});
  }
  std::vector<std::string> zones_;
  std::map<std::string, std::string> contents_;
  std::map<std::string, int> failures_;
};

TEST_F(EnergyMeterTest, SumsPackagesAndTheirMemoryAndNothingTwice) {
  // Unordered, like the entries of a directory.
  add_zone("intel-rapl:1:0", "dram", 40);
  add_zone("intel-rapl:0:0", "core", 1000);
  add_zone("intel-rapl:1", "package-1", 30);
  add_zone("intel-rapl:0", "package-0", 10);
  add_zone("intel-rapl:0:1", "dram", 20);
  add_zone("intel-rapl:2", "psys", 1000);
  add_zone("intel-rapl-mmio:0", "package-0", 1000);
  const auto meter = open();
  ASSERT_TRUE(meter.ok()) << meter.error().message();
  EXPECT_EQ((*meter)->source(), "rapl:package-0+dram-0+package-1+dram-1");
  const auto before = (*meter)->read();
  ASSERT_TRUE(before);
  set_energy("intel-rapl:0", 110);
  set_energy("intel-rapl:0:1", 25);
  set_energy("intel-rapl:0:0", 9000);
  const auto after = (*meter)->read();
  ASSERT_TRUE(after);
  EXPECT_EQ(energy_between(*before, *after), 105);
}

TEST_F(EnergyMeterTest, ACounterThatWrapsAroundContinuesAtZero) {
  add_zone("intel-rapl:0", "package-0", 900, 999);
  const auto meter = open();
  ASSERT_TRUE(meter.ok());
  const auto before = (*meter)->read();
  set_energy("intel-rapl:0", 50);
  const auto after = (*meter)->read();
  ASSERT_TRUE(before && after);
  EXPECT_EQ(energy_between(*before, *after), 150);
}

TEST_F(EnergyMeterTest, ACounterWithoutARangeThatGoesBackIsUnknown) {
  const std::vector<EnergyCount> before = {{900}}, after = {{50}};
  EXPECT_EQ(energy_between(before, after), std::nullopt);
  EXPECT_EQ(energy_between(before, {}), std::nullopt);
}

TEST_F(EnergyMeterTest, WithoutCountersTheReasonIsGiven) {
  add_zone("dtpm", "none", 0);
  const auto meter = open();
  ASSERT_FALSE(meter.ok());
  EXPECT_EQ(meter.error().message(),
            "/sys/class/powercap/ has no intel-rapl package; a virtual machine often hides it");
}

TEST_F(EnergyMeterTest, CountersOfRootAloneHaveARemedy) {
  add_zone("intel-rapl:0", "package-0", 10);
  failures_[std::string(kRoot) + "intel-rapl:0/energy_uj"] = EACCES;
  const auto meter = open();
  ASSERT_FALSE(meter.ok());
  EXPECT_EQ(meter.error().message(),
            "/sys/class/powercap/intel-rapl:0/energy_uj cannot be read (Permission denied); sudo "
            "chmod a+r /sys/class/powercap/*/energy_uj opens it until the next start");
}

TEST_F(EnergyMeterTest, TheFindingOfADoctorHasTheRemedyApart) {
  add_zone("intel-rapl:0", "package-0", 10);
  const Finding good = energy_finding(open());
  EXPECT_EQ(good.level, Finding::Level::good);
  EXPECT_EQ(good.found, "rapl:package-0");
  failures_[std::string(kRoot) + "intel-rapl:0/energy_uj"] = EACCES;
  const Finding closed = energy_finding(open());
  EXPECT_EQ(closed.level, Finding::Level::note);
  EXPECT_THAT(closed.found, HasSubstr("n/a: /sys/class/powercap/intel-rapl:0/energy_uj cannot"));
  EXPECT_THAT(closed.remedy, HasSubstr("sudo chmod a+r"));
}

TEST_F(EnergyMeterTest, ACounterThatIsClosedLaterIsUnknown) {
  add_zone("intel-rapl:0", "package-0", 10);
  const auto meter = open();
  ASSERT_TRUE(meter.ok());
  failures_[std::string(kRoot) + "intel-rapl:0/energy_uj"] = EACCES;
  EXPECT_FALSE((*meter)->read());
}

TEST_F(EnergyMeterTest, AnotherDeviceHasNone) {
  const auto meter = open_energy_meter("npu");
  ASSERT_FALSE(meter.ok());
  EXPECT_EQ(meter.error().message(), "no energy counter is known for the device `npu`");
}

TEST(NvmlMeter, ReadsMillijoulesOfTheDevice) {
  const ops::cuda::SearchStep step = {std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"};
  const auto open = [&](const char* bus_id) -> EnergyMeterResult {
    auto nvml = ops::cuda::Nvml::open(std::span(&step, 1));
    if (!nvml) return Error{nvml.error().reason, "", ""};
    return open_nvml_meter(std::move(nvml).value(), bus_id);
  };
  const auto meter = open("0000:1B:00.0");
  ASSERT_TRUE(meter.ok()) << meter.error().message();
  EXPECT_EQ((*meter)->source(), "nvml");
  const auto counts = (*meter)->read();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->front().microjoules, 123'456'789'000);
  EXPECT_FALSE(counts->front().wrap_at);
  const auto unknown = open("0000:2B:00.0");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(), HasSubstr("no energy counter of this GPU"));
}

}  // namespace
}  // namespace bench
