// SPDX-License-Identifier: Apache-2.0
// Tests the probe on any machine: its report must be consistent and must name what is missing.
#include "ops/cuda/plugin/runtime_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::optional<std::string> no_variable(const std::string&) { return std::nullopt; }

TEST(RuntimeProbe, SaysForThisMachineWhetherCudaCanRun) {
  const auto search = library_search_path(no_variable, "");
  const ProbeReport report = probe(ProbeExtent::devices, search, process_variable);
  EXPECT_GE(report.answers.runtime, 13000);
  EXPECT_THAT(report.answers.status_name, HasSubstr("cuda"));
  EXPECT_EQ(report.devices.size(), static_cast<std::size_t>(report.answers.devices));
  EXPECT_THAT(report.libraries, IsEmpty());
  const bool available = report.verdict.availability == Availability::available;
  EXPECT_EQ(available, !report.devices.empty());
  EXPECT_EQ(available, report.verdict.reason.empty());
  if (report.answers.driver == 0 && report.answers.status == 35) {
    EXPECT_EQ(report.verdict.availability, Availability::no_driver);
  }
  for (const DeviceProperties& device : report.devices) {
    EXPECT_THAT(device.name, Not(IsEmpty()));
    EXPECT_GE(device.multiprocessors, 1);
    EXPECT_THAT(device.bus_id, HasSubstr(":"));
    EXPECT_THAT(device.uuid, HasSubstr("GPU-"));
    EXPECT_NE(device.nvml.has_value(), !device.nvml_reason.empty());
  }
}

TEST(RuntimeProbe, TellsTheCapabilityOfTheFirstDevice) {
  const auto search = library_search_path(no_variable, "");
  const ProbeReport report = probe(ProbeExtent::devices, search, process_variable);
  const ComputeCapability here = capability_here(process_variable);
  if (report.devices.empty()) {
    EXPECT_EQ(here, kNoDevice);
  } else {
    EXPECT_EQ(here, (ComputeCapability{report.devices[0].major, report.devices[0].minor}));
  }
}

TEST(RuntimeProbe, IsRepeatable) {
  const auto search = library_search_path(no_variable, "");
  EXPECT_EQ(ask_runtime(process_variable).status, ask_runtime(process_variable).status);
  EXPECT_EQ(probe(ProbeExtent::devices, search, process_variable).verdict.availability,
            probe(ProbeExtent::devices, search, process_variable).verdict.availability);
}

TEST(RuntimeProbe, LooksForLibrariesWhereItIsTold) {
  const SearchStep step{std::string(BENCH_FAKE_LIBRARIES) + "/complete", "a test"};
  const ProbeReport report = probe(ProbeExtent::libraries, std::span(&step, 1), process_variable);
  ASSERT_EQ(report.libraries.size(), library_specs().size());
  for (const LibraryReport& library : report.libraries) {
    EXPECT_THAT(library.path, HasSubstr("/complete/")) << library.name;
  }
}

// Libraries that load without a driver, in the versions of this build's toolkit.
TEST(RuntimeProbe, FindsTheToolkitsOwnLibraries) {
  const auto search = library_search_path(process_variable, "");
  const ProbeReport report = probe(ProbeExtent::libraries, search, process_variable);
  for (const LibraryReport& library : report.libraries) {
    if (library.name == "NVML") continue;  // comes with the driver
    if (library.path.empty()) GTEST_SKIP() << library.name << ": " << library.reason;
    EXPECT_TRUE(library.usable()) << library.name << ": " << library.reason;
    EXPECT_THAT(library.version, testing::ContainsRegex("^[0-9]+\\.[0-9]+\\.[0-9]+$"));
  }
}

TEST(OwnFolder, IsAbsolute) { EXPECT_THAT(own_folder(), testing::StartsWith("/")); }

}  // namespace
}  // namespace bench::ops::cuda
