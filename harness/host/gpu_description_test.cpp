// SPDX-License-Identifier: Apache-2.0
#include "harness/host/gpu_description.hpp"

#include "base/folder.hpp"
#include "harness/host/cuda_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace bench {
namespace {

using testing::HasSubstr;

class GpuDescriptionTest : public testing::Test {
 protected:
  Result<GpuDescription> read(const std::string& text) {
    const std::string path = folder_.file("device.json");
    std::ofstream(path) << text;
    return read_gpu_description(path);
  }
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("gpu")).value();
};

TEST_F(GpuDescriptionTest, IsADeviceAsCudnnDescribesIt) {
  const std::string text = R"({"deviceVer":890,"deviceName":"NVIDIA L4"})";
  const auto gpu = read(text);
  ASSERT_TRUE(gpu.ok()) << gpu.error().message();
  EXPECT_EQ(gpu->name, "NVIDIA L4");
  EXPECT_EQ(gpu->architecture, "sm_89");
  EXPECT_EQ(gpu->cudnn_properties, text);
  EXPECT_EQ(read(R"({"deviceVer":1030})")->architecture, "sm_103");
}

TEST_F(GpuDescriptionTest, IsTheFirstDeviceOfAProbe) {
  CudaStatus status;
  status.report.emplace();
  for (const char* name : {"first", "second"}) {
    ops::cuda::DeviceProperties device;
    device.name = name;
    device.major = 12;
    device.cudnn_properties = R"({"deviceVer":1200})";
    status.report->devices.push_back(device);
  }
  const auto gpu = read(format_cuda_status(status));
  ASSERT_TRUE(gpu.ok()) << gpu.error().message();
  EXPECT_EQ(gpu->name, "first");
  EXPECT_EQ(gpu->architecture, "sm_120");
  EXPECT_EQ(gpu->cudnn_properties, R"({"deviceVer":1200})");
  // If cuDNN was not available to describe it.
  status.report->devices.front().cudnn_properties.clear();
  status.report->devices.front().minor = 1;
  EXPECT_EQ(read(format_cuda_status(status))->cudnn_properties, R"({"deviceVer":1210})");
}

TEST_F(GpuDescriptionTest, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(read_gpu_description("/nowhere/device.json").error().message(),
              HasSubstr("/nowhere/device.json"));
  EXPECT_THAT(read("no JSON").error().message(), HasSubstr("describes no GPU"));
  EXPECT_THAT(read("{}").error().message(), HasSubstr("describes no GPU"));
  EXPECT_THAT(read(R"({"deviceVer":"new"})").error().message(), HasSubstr("is malformed"));
  EXPECT_THAT(read(R"({"deviceVer":9})").error().message(), HasSubstr("not a compute capability"));
  EXPECT_THAT(read(format_cuda_status(CudaStatus())).error().message(), HasSubstr("without a GPU"));
}

TEST_F(GpuDescriptionTest, OfAnArchitectureHasOnlyItsCapability) {
  const GpuDescription gpu = describe_architecture("sm_100");
  EXPECT_EQ(gpu.name, "sm_100");
  EXPECT_EQ(gpu.cudnn_properties, R"({"deviceVer":1000})");
}

}  // namespace
}  // namespace bench
