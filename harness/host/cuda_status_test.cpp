// SPDX-License-Identifier: Apache-2.0
#include "harness/host/cuda_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using ops::cuda::Availability;
using ops::cuda::DeviceProperties;
using ops::cuda::ProbeExtent;
using ops::cuda::ProbeReport;
using testing::HasSubstr;

ProbeReport a_report() {
  ProbeReport report;
  report.answers.devices = 1;
  report.verdict = {Availability::available, "", ""};
  report.operators = {"conv"};
  DeviceProperties device;
  device.name = "NVIDIA H200";
  report.devices = {device};
  return report;
}

CudaStatus status_of(const ProbeReport& report) {
  CudaStatus status;
  status.plugin = "/usr/lib/bench/libbench_cuda.so";
  status.abi = 1;
  status.version = "0.1.0";
  status.report = report;
  return status;
}

TEST(CudaStatusJson, IsReadBackAsItWasWritten) {
  const CudaStatus status = status_of(a_report());
  const std::string text = format_cuda_status(status);
  const auto again = parse_cuda_status(text);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->plugin, status.plugin);
  EXPECT_EQ(again->abi, 1);
  EXPECT_EQ(again->version, "0.1.0");
  ASSERT_TRUE(again->report);
  EXPECT_EQ(again->report->devices, status.report->devices);
  EXPECT_EQ(format_cuda_status(*again), text);
  EXPECT_FALSE(parse_cuda_status("{}").ok());
  EXPECT_FALSE(parse_cuda_status(R"({"schema":"bench.worker_probe/1"})").ok());
  EXPECT_FALSE(parse_cuda_status("line of a library").ok());
}

TEST(WhyNoCuda, IsThePluginsVerdict) {
  ProbeReport report = a_report();
  EXPECT_FALSE(cuda_unavailable_reason(status_of(report)));
  report.verdict = {Availability::no_driver, "no NVIDIA driver: it is not there", "install it"};
  report.devices.clear();
  EXPECT_EQ(cuda_unavailable_reason(status_of(report)),
            "no CUDA device: no NVIDIA driver: it is not there");
}

TEST(WhyNoCuda, OneUsableDeviceIsEnough) {
  ProbeReport report = a_report();
  DeviceProperties old = report.devices[0];
  old.name = "Tesla V100";
  old.unusable = "compute capability 7.0, for which this build has no code";
  report.devices.insert(report.devices.begin(), old);
  EXPECT_FALSE(cuda_unavailable_reason(status_of(report)));
  report.devices.pop_back();
  EXPECT_EQ(cuda_unavailable_reason(status_of(report)),
            "no CUDA device: Tesla V100: compute capability 7.0, for which this build has no code");
}

TEST(WhyNoCuda, NamesAPluginWithoutKernels) {
  ProbeReport report = a_report();
  report.operators.clear();
  EXPECT_THAT(cuda_unavailable_reason(status_of(report)).value_or(""),
              HasSubstr("no CUDA kernels"));
}

TEST(ProbeExtent, ByName) {
  EXPECT_EQ(to_string(ProbeExtent::libraries), "libraries");
  EXPECT_EQ(enumerator_from_name<ops::cuda::ProbeExtent>("devices"), ProbeExtent::devices);
  EXPECT_EQ(enumerator_from_name<ops::cuda::ProbeExtent>("libraries"), ProbeExtent::libraries);
  EXPECT_FALSE(enumerator_from_name<ops::cuda::ProbeExtent>("all"));
}

TEST(GpuDetails, AreOfTheFirstUsableDevice) {
  ProbeReport report = a_report();
  report.driver_version = "580.82.07";
  report.devices.front().unusable = "too old";
  DeviceProperties device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.multiprocessors = 132;
  device.clock_khz = 1980000;
  device.nvml.emplace();
  device.nvml->ecc = true;
  device.nvml->mig = false;
  report.devices.push_back(device);
  const auto details = gpu_details(status_of(report));
  EXPECT_EQ(details.at("gpu.name"), "NVIDIA H200");
  EXPECT_EQ(details.at("gpu.compute_capability"), "9.0");
  EXPECT_EQ(details.at("gpu.driver"), "580.82.07");
  EXPECT_EQ(details.at("gpu.clock_khz"), "1980000");
  EXPECT_EQ(details.at("gpu.ecc"), "on");
  EXPECT_EQ(details.at("gpu.mig"), "off");
  EXPECT_EQ(details.at("gpu.count"), "2");
  EXPECT_FALSE(details.contains("gpu.persistence"));  // NVML did not report it
  EXPECT_FALSE(details.contains("gpu.uuid"));
}

TEST(GpuDetails, AreEmptyWhereNothingRuns) {
  ProbeReport report = a_report();
  report.devices.front().unusable = "too old";
  EXPECT_TRUE(gpu_details(status_of(report)).empty());
  EXPECT_TRUE(gpu_details(CudaStatus{}).empty());
}

}  // namespace
}  // namespace bench
