// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cuda_status.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

using ops::cuda::Availability;
using ops::cuda::DeviceFacts;
using ops::cuda::ProbeExtent;
using ops::cuda::ProbeReport;
using testing::HasSubstr;

std::string fake_plugin(const std::string& name) {
  return std::string(BENCH_FAKE_CUDA_PLUGINS) + "/" + name + ".so";
}

LookUp plugin_variable(const std::string& path) {
  return [path](const std::string& name) -> std::optional<std::string> {
    if (name != "BENCH_CUDA_PLUGIN") return std::nullopt;
    return path;
  };
}

CudaStatus inspect(const std::string& plugin) {
  return inspect_cuda("/nowhere/bench", ProbeExtent::devices, plugin_variable(plugin));
}

ProbeReport a_report() {
  ProbeReport report;
  report.answers.devices = 1;
  report.verdict = {Availability::available, "", ""};
  report.operators = {"conv"};
  DeviceFacts device;
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

TEST(CudaPlugin, IsTheNamedOneOrLiesBesideTheProgram) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  const LookUp nothing = plugin_variable("");
  EXPECT_EQ(*find_cuda_plugin("/x/bench", plugin_variable("/y/some.so")), "/y/some.so");
  const auto missing = find_cuda_plugin(folder->file("bin/bench"), nothing);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().what, HasSubstr("CUDA plugin"));
  for (const char* place : {"lib/bench", "bin/lib/bench"}) {
    std::filesystem::create_directories(folder->file(place));
    const std::string file = folder->file(std::string(place) + "/libbench_cuda.so");
    ASSERT_TRUE(write_file(file, "", Existing::refuse).ok());
    EXPECT_EQ(*find_cuda_plugin(folder->file("bin/bench"), nothing), file);
    std::filesystem::remove(file);
  }
}

struct Fault {
  const char* plugin;
  const char* reason;
};
constexpr Fault kFaults[] = {
    {"no_such_file", "the CUDA plugin does not load: "},
    {"no_entry", "is no plugin: it has no bench_plugin_entry"},
    {"other_abi", "speaks version 2 of the plugin interface, this program version 1"},
    {"no_probe", "does not export bench_cuda_probe"},
    {"answer", "answer is of no use: no document of schema bench.cuda_probe/1"},
};

TEST(CudaPlugin, ThatIsOfNoUseSaysWhy) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.plugin);
    const CudaStatus status = inspect(fake_plugin(fault.plugin));
    EXPECT_FALSE(status.report);
    EXPECT_THAT(status.reason, HasSubstr(fault.reason));
    EXPECT_EQ(status.plugin, fake_plugin(fault.plugin));
    EXPECT_EQ(why_no_cuda(status), "no CUDA device: " + status.reason);
  }
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
  EXPECT_FALSE(why_no_cuda(status_of(report)));
  report.verdict = {Availability::no_driver, "no NVIDIA driver: it is not there", "install it"};
  report.devices.clear();
  EXPECT_EQ(why_no_cuda(status_of(report)), "no CUDA device: no NVIDIA driver: it is not there");
}

TEST(WhyNoCuda, OneUsableDeviceIsEnough) {
  ProbeReport report = a_report();
  DeviceFacts old = report.devices[0];
  old.name = "Tesla V100";
  old.unusable = "compute capability 7.0, for which this build has no code";
  report.devices.insert(report.devices.begin(), old);
  EXPECT_FALSE(why_no_cuda(status_of(report)));
  report.devices.pop_back();
  EXPECT_EQ(why_no_cuda(status_of(report)),
            "no CUDA device: Tesla V100: compute capability 7.0, for which this build has no code");
}

TEST(WhyNoCuda, NamesAPluginWithoutKernels) {
  ProbeReport report = a_report();
  report.operators.clear();
  EXPECT_THAT(why_no_cuda(status_of(report)).value_or(""), HasSubstr("no CUDA kernels"));
}

CaseKey key_on(const std::string& backend, const std::string& device) {
  CaseKey key;
  key.backend = backend;
  key.device = device;
  return key;
}

TEST(Devices, AsksOnceAndOnlyForItsOwnBackendsOnCuda) {
  int asked = 0;
  Devices devices([&] {
    ++asked;
    return CudaStatus{};
  });
  EXPECT_FALSE(devices.missing(key_on("onednn", "cpu")));
  EXPECT_FALSE(devices.missing(key_on("mine", "cuda")));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(devices.missing(key_on("cudnn", "cuda")));
  EXPECT_TRUE(devices.missing(key_on("cublaslt", "cuda")));
  EXPECT_EQ(asked, 1);
}

TEST(ProbeExtent, ByName) {
  EXPECT_EQ(probe_extent_from_name("devices"), ProbeExtent::devices);
  EXPECT_EQ(probe_extent_from_name("libraries"), ProbeExtent::libraries);
  EXPECT_FALSE(probe_extent_from_name("all"));
}

TEST(GpuDetails, AreOfTheFirstUsableDevice) {
  ProbeReport report = a_report();
  report.driver_version = "580.82.07";
  report.devices.front().unusable = "too old";
  DeviceFacts device;
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
  EXPECT_FALSE(details.contains("gpu.persistence"));  // NVML did not say
  EXPECT_FALSE(details.contains("gpu.uuid"));
}

TEST(GpuDetails, AreEmptyWhereNothingRuns) {
  ProbeReport report = a_report();
  report.devices.front().unusable = "too old";
  EXPECT_TRUE(gpu_details(status_of(report)).empty());
  EXPECT_TRUE(gpu_details(CudaStatus{}).empty());
  Devices devices([] { return CudaStatus{}; });
  EXPECT_TRUE(devices.details().empty());
}

}  // namespace
}  // namespace bench
