// SPDX-License-Identifier: Apache-2.0
// The GPU part of `doctor` on invented machines.
#include "base/file.hpp"
#include "base/folder.hpp"
#include "harness/host/cuda_status.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

using ops::LibraryReport;
using ops::cuda::Availability;
using ops::cuda::DeviceProperties;
using ops::cuda::ProbeReport;
using testing::ElementsAre;

const SystemRoot kEmptyRoot{"/nowhere"};

std::vector<std::string> lines(const std::vector<Finding>& findings) {
  constexpr std::string_view kMarks[] = {"ok", "note", "PROBLEM"};
  std::vector<std::string> result;
  for (const Finding& finding : findings) {
    result.push_back(fmt::format("{} | {} | {} | {} | {}",
                                 kMarks[static_cast<std::size_t>(finding.level)], finding.subject,
                                 finding.found, finding.consequence, finding.remedy));
  }
  return result;
}

LibraryReport present(const std::string& name) {
  LibraryReport library;
  library.name = name;
  library.path = "/cuda/lib" + name + ".so";
  library.origin = "the loader's path";
  library.version = "1.2.3";
  return library;
}

LibraryReport absent() {
  LibraryReport library;
  library.name = "cuDNN";
  library.reason = "libcudnn.so.9 was not found";
  library.tried = {"libcudnn.so.9 in /a: no such file", "libcudnn.so.9 in /b: no such file"};
  library.consequence = "conv is unsupported";
  library.remedy = "install it";
  return library;
}

LibraryReport mismatched() {
  LibraryReport library = present("CUPTI");
  library.version.clear();
  library.reason = "API version 13.2.0, but this build decodes the records of 13.0.1";
  library.consequence = "no device rows";
  library.remedy = "replace it";
  return library;
}

DeviceProperties h200() {
  DeviceProperties device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.multiprocessors = 132;
  device.memory_bytes = std::int64_t{140} << 30;
  device.l2_bytes = std::int64_t{60} << 20;
  device.bus_id = "0000:1b:00.0";
  device.uuid = "GPU-01";
  device.nvml.emplace();
  device.nvml->ecc = true;
  device.nvml->mig = false;
  device.nvml->persistence = true;
  device.nvml->sm_clock_mhz = 1755;
  device.nvml->sm_clock_limit_mhz = 1980;
  device.nvml->memory_clock_mhz = 3201;
  device.nvml->memory_clock_limit_mhz = 3201;
  device.nvml->temperature_celsius = 41;
  device.nvml->power_milliwatt = 123456;
  device.nvml->power_limit_milliwatt = 700000;
  device.nvml->performance_state = 0;
  device.nvml->clock_reasons = 1;
  return device;
}

CudaStatus machine_with(std::vector<DeviceProperties> devices) {
  CudaStatus status;
  status.plugin = "/lib/bench/libbench_cuda.so";
  status.abi = 1;
  status.version = "0.1.0";
  status.report.emplace();
  ProbeReport& report = *status.report;
  report.answers.driver = 13010;
  report.answers.runtime = 13000;
  report.verdict = {Availability::available, "", ""};
  report.driver_version = "580.82.07";
  report.architectures = "90-real;75-virtual";
  report.devices = std::move(devices);
  return status;
}

const char* const kPluginLine =
    "ok | CUDA plugin | 0.1.0, interface 1, for 90-real 75-virtual, at "
    "/lib/bench/libbench_cuda.so |  | ";

TEST(ExamineCuda, AMachineWithADeviceAndEverything) {
  CudaStatus status = machine_with({h200()});
  status.report->libraries = {present("cuDNN"), present("CUPTI")};
  EXPECT_THAT(
      lines(examine_cuda(status, kEmptyRoot, Privilege::user)),
      ElementsAre(
          kPluginLine, "ok | NVIDIA driver | 580.82.07, CUDA 13.1 (this build: 13.0) |  | ",
          "ok | GPU 0 | NVIDIA H200, compute capability 9.0, 132 multiprocessors, 140.0 GiB, "
          "L2 60.00 MiB, at 0000:1b:00.0, GPU-01 |  | ",
          "ok | GPU 0 clocks | SM clock 1755 of 1980 MHz, memory clock 3201 of 3201 MHz, "
          "123 of 700 W, 41 C, P0 |  | ",
          "ok | GPU 0 clock locks | for equal times; as root; SM clock up to 1980 MHz: `sudo "
          "nvidia-smi -i 0 -lgc MHZ`, unlocked by `-rgc`; memory clock up to 3201 MHz: `sudo "
          "nvidia-smi -i 0 -lmc MHZ`, unlocked by `-rmc` |  | ",
          "ok | GPU 0 modes | ECC on, MIG off, persistence on |  | ",
          "ok | cuDNN | 1.2.3 at /cuda/libcuDNN.so (the loader's path) |  | ",
          "ok | CUPTI | 1.2.3 at /cuda/libCUPTI.so (the loader's path) |  | "));
}

TEST(ExamineCuda, AMachineWithoutADriver) {
  CudaStatus status = machine_with({});
  status.report->verdict = {Availability::no_driver, "no NVIDIA driver", "install it"};
  status.report->libraries = {absent()};
  EXPECT_THAT(lines(examine_cuda(status, kEmptyRoot, Privilege::user)),
              ElementsAre(kPluginLine,
                          "note | NVIDIA driver | no NVIDIA driver | cases with device: cuda are "
                          "skipped | install it",
                          "note | cuDNN | libcudnn.so.9 was not found (tried: libcudnn.so.9 in "
                          "/a: no such file; libcudnn.so.9 in /b: no such file) | conv is "
                          "unsupported | install it"));
}

TEST(ExamineCuda, WhatIsMissingIsAProblemWhereADeviceCouldUseIt) {
  CudaStatus status = machine_with({h200()});
  status.report->libraries = {absent(), mismatched()};
  const auto findings = examine_cuda(status, kEmptyRoot, Privilege::user);
  ASSERT_EQ(findings.size(), 8u);
  EXPECT_EQ(findings[6].level, Finding::Level::problem);
  EXPECT_EQ(findings[7].level, Finding::Level::problem);
  EXPECT_EQ(findings[7].found,
            "API version 13.2.0, but this build decodes the records of 13.0.1 at "
            "/cuda/libCUPTI.so");
}

TEST(ExamineCuda, DriversThatAreThereButDoNotWorkAreProblems) {
  for (const auto& [availability, level] :
       {std::pair(Availability::driver_too_old, Finding::Level::problem),
        std::pair(Availability::stub_driver, Finding::Level::problem),
        std::pair(Availability::driver_mismatch, Finding::Level::problem),
        std::pair(Availability::failed, Finding::Level::problem),
        std::pair(Availability::no_device, Finding::Level::note)}) {
    CudaStatus status = machine_with({});
    status.report->verdict = {availability, "a reason", "a remedy"};
    const auto findings = examine_cuda(status, kEmptyRoot, Privilege::user);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[1].level, level);
    EXPECT_EQ(findings[1].found, "a reason");
    EXPECT_EQ(findings[1].remedy, "a remedy");
  }
}

TEST(ExamineCuda, ADeviceThatSuffersOrIsTooOld) {
  DeviceProperties hot = h200();
  hot.nvml->clock_reasons = 0x4 | 0x40;
  hot.nvml->persistence = false;
  hot.nvml->power_milliwatt.reset();
  DeviceProperties old = h200();
  old.index = 1;
  old.unusable = "no code for it";
  old.nvml.reset();
  old.nvml_reason = "NVML error 4 (No Permission)";
  const auto findings = lines(examine_cuda(machine_with({hot, old}), kEmptyRoot, Privilege::user));
  ASSERT_EQ(findings.size(), 8u);
  EXPECT_THAT(findings[3], testing::HasSubstr("n/a of 700 W"));
  EXPECT_THAT(findings[3], testing::HasSubstr("throttled by power cap, hot (hardware)"));
  EXPECT_THAT(findings[5], testing::HasSubstr("nvidia-smi -pm 1"));
  EXPECT_THAT(findings[6], testing::StartsWith("PROBLEM | GPU 1 | "));
  EXPECT_THAT(findings[6], testing::HasSubstr("no code for it"));
  EXPECT_THAT(findings[7], testing::HasSubstr("unknown: NVML error 4"));
}

TEST(ExamineCuda, NoPluginIsANoteAndABrokenOneAProblem) {
  CudaStatus none;
  none.reason = "this build has no CUDA plugin";
  none.remedy = "build with one";
  EXPECT_THAT(lines(examine_cuda(none, kEmptyRoot, Privilege::user)),
              ElementsAre("note | CUDA plugin | this build has no CUDA plugin | cases with "
                          "device: cuda are skipped | build with one"));
  none.plugin = "/lib/bench/libbench_cuda.so";
  EXPECT_EQ(examine_cuda(none, kEmptyRoot, Privilege::user)[0].level, Finding::Level::problem);
}

TEST(ExamineCuda, PermissionForCounters) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  std::filesystem::create_directories(folder->file("proc/driver/nvidia"));
  std::string path = folder->file("x");
  const SystemRoot root{path.substr(0, path.size() - 2)};
  const auto counters = [&](const std::string& value, Privilege privilege) {
    EXPECT_TRUE(write_file(folder->file("proc/driver/nvidia/params"),
                           "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: " + value + "\n",
                           Existing::replace)
                    .ok());
    return examine_cuda(CudaStatus{}, root, privilege).back();
  };
  EXPECT_EQ(counters("0", Privilege::user).found, "open to every user");
  EXPECT_EQ(counters("1", Privilege::administrator).level, Finding::Level::good);
  const Finding closed = counters("1", Privilege::user);
  EXPECT_EQ(closed.level, Finding::Level::note);
  EXPECT_EQ(closed.subject, "GPU counters");
  EXPECT_THAT(closed.remedy, testing::HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

}  // namespace
}  // namespace bench
