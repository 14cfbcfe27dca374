// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

DeviceProperties a_device() {
  DeviceProperties device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.multiprocessors = 132;
  device.memory_bytes = std::int64_t{150} << 30;
  device.l2_bytes = 60 << 20;
  device.clock_khz = 1980000;
  device.bus_id = "0000:1b:00.0";
  device.uuid = "GPU-0123";
  device.nvml.emplace();
  device.nvml->ecc = true;
  device.nvml->clock_reasons = 4;
  device.cudnn_properties = R"({"deviceVer": 900})";
  return device;
}

ProbeReport a_report() {
  ProbeReport report;
  report.answers.status_name = "cudaSuccess";
  report.answers.devices = 2;
  report.answers.driver = report.answers.runtime = 13000;
  report.answers.visible_devices = "0,1";
  report.verdict = {Availability::available, "", ""};
  report.driver_version = "580.82.07";
  report.architectures = "90-real;120-virtual";
  report.operators = {"conv"};
  report.devices = {a_device(), a_device()};
  report.devices[1].index = 1;
  report.devices[1].nvml.reset();
  report.devices[1].nvml_reason = "no permission";
  LibraryReport library;
  library.name = "cuDNN";
  library.tried = {"libcudnn.so.9 in /a: no such file"};
  library.reason = "libcudnn.so.9 was not found";
  report.libraries = {library};
  return report;
}

TEST(ProbeJson, IsReadBackAsItWasWritten) {
  const ProbeReport report = a_report();
  const std::string text = format_probe(report);
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  const auto again = parse_probe(text);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->answers.visible_devices, "0,1");
  EXPECT_EQ(again->answers.driver, 13000);
  EXPECT_EQ(again->verdict.availability, Availability::available);
  EXPECT_EQ(again->driver_version, "580.82.07");
  EXPECT_EQ(again->architectures, report.architectures);
  EXPECT_THAT(again->operators, ElementsAre("conv"));
  EXPECT_EQ(again->devices, report.devices);
  EXPECT_EQ(again->libraries, report.libraries);
  EXPECT_EQ(format_probe(*again), text);
}

TEST(ProbeJson, SurvivesTextThatIsNoUtf8) {
  ProbeReport report = a_report();
  report.devices[0].name = "broken \xff name";
  EXPECT_TRUE(parse_probe(format_probe(report)).ok());
}

TEST(ProbeJson, OfAnotherKindIsAnError) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema":"bench.cuda_probe/2"})", "3"}) {
    const auto report = parse_probe(text);
    ASSERT_FALSE(report.ok()) << text;
    EXPECT_EQ(report.error().what, "not a document of schema bench.cuda_probe/1");
  }
}

TEST(ProbeJson, WithAMemberMissingOrOfAnotherTypeIsAnError) {
  const std::string text = format_probe(a_report());
  for (const auto& [from, to] : {std::pair("\"verdict\"", "\"verdikt\""),
                                 std::pair("\"name\":\"NVIDIA H200\"", "\"name\":7"),
                                 std::pair("\"devices\":2", "\"devices\":\"two\"")}) {
    std::string malformed = text;
    const auto place = malformed.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    malformed.replace(place, std::string(from).size(), to);
    const auto report = parse_probe(malformed);
    ASSERT_FALSE(report.ok()) << from;
    EXPECT_THAT(report.error().what, HasSubstr("malformed document"));
  }
}

TEST(Capability, AsText) { EXPECT_EQ(format_capability(a_device()), "compute capability 9.0"); }

}  // namespace
}  // namespace bench::ops::cuda
