// SPDX-License-Identifier: Apache-2.0
// The fake GPU itself: its script, and its answers to queries.
#include "harness/host/cuda_status.hpp"
#include "harness/worker/cuda_plugin.hpp"
#include "ops/cuda/probe.hpp"
#include "tests/fakes/fake_gpu/script.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstring>
#include <string>

namespace bench::test::fake_gpu_script_test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FakeGpuScript, HasDefaultsForAllThatIsLeftOut) {
  const auto script = fake_gpu::parse_script("{}");
  ASSERT_TRUE(script.ok());
  EXPECT_EQ(script->device->memory, Bytes{1 << 30});
  const fake_gpu::CaseScript row = script->find_case("gemm/m4n4k4");
  ASSERT_EQ(row.kernels.size(), 1U);
  EXPECT_EQ(row.kernels.front().name, "fake_gemm_kernel");
  EXPECT_EQ(row.time(), Nanoseconds(10000));
}

TEST(FakeGpuScript, TheFirstRowThatMatchesCounts) {
  const auto script = fake_gpu::parse_script(R"({"cases":[
      {"match":"conv/*","kernels":[{"name":"a","ns":3},{"name":"b","ns":4,"grid":[2,3,4]}]},
      {"match":"last","ns":9}, {"match":"*","ns":1}]})");
  ASSERT_TRUE(script.ok()) << script.error().message();
  EXPECT_EQ(script->find_case("conv/n1").time(), Nanoseconds(7));
  EXPECT_EQ(script->find_case("conv/n1").kernels[1].grid, (GpuSize{2, 3, 4}));
  EXPECT_EQ(script->find_case("pool/n1", "last").time(), Nanoseconds(9));
  EXPECT_EQ(script->find_case("pool/n1", "first").time(), Nanoseconds(1));
}

TEST(FakeGpuScript, SaysWhatIsWrongWithIt) {
  const auto what = [](const char* text) { return fake_gpu::parse_script(text).error().what; };
  EXPECT_THAT(what(R"({"devise":{}})"), HasSubstr("unknown key `devise`"));
  EXPECT_THAT(what(R"({"faults":[{"kind":"odd"}]})"), HasSubstr("script.faults[0].kind"));
  EXPECT_THAT(what(R"({"cases":[{"ns":"fast"}]})"), HasSubstr("number"));
  EXPECT_THAT(what(R"({"tracer":{"readings":[{"memory_source":"guess"}]}})"),
              HasSubstr("script.tracer.readings[0].memory_source"));
  EXPECT_THAT(what("{"), HasSubstr("parse error"));
}

// Returns the result of `bench worker --probe` on a machine with this script.
CudaStatus probe(const std::string& script) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(
      {{BENCH_BINARY, "worker", "--probe", "libraries"},
       folder.path(),
       {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU}, {"FAKE_GPU_SCRIPT", folder.write("s", script)}}});
  EXPECT_EQ(result.status, 0) << result.err;
  auto status = parse_cuda_status(result.out);
  EXPECT_TRUE(status.ok()) << result.out;
  return status.ok() ? *status : CudaStatus{};
}

TEST(FakeGpu, AnswersTheProbeWithItsDeviceAndLibraries) {
  const CudaStatus status = probe(R"({"device":{"name":"Fake X","compute":[8,6]},
                                    "absent":{"cuBLASLt":"not found"}})");
  ASSERT_TRUE(status.report) << status.reason;
  EXPECT_EQ(cuda_unavailable_reason(status), std::nullopt);
  ASSERT_EQ(status.report->devices.size(), 1U);
  EXPECT_EQ(status.report->devices.front().name, "Fake X");
  EXPECT_EQ(status.report->devices.front().minor, 6);
  EXPECT_THAT(status.report->operators, Contains("gemm"));  // from cuBLAS
  EXPECT_EQ(status.report->libraries.size(), 5U);
  EXPECT_EQ(status.report->libraries[1].reason, "not found");
}

TEST(FakeGpu, WithoutADeviceSaysWhy) {
  const CudaStatus status = probe(R"({"device":null,"verdict":{"availability":"driver_too_old",
                                    "reason":"a driver for CUDA 12.2"}})");
  EXPECT_EQ(cuda_unavailable_reason(status), "no CUDA device: a driver for CUDA 12.2");
}

TEST(FakeGpu, MemoryIsNoneOfTheHost) {
  const auto plugin = load_cuda_plugin(BENCH_FAKE_GPU);
  ASSERT_TRUE(plugin.ok()) << plugin.error().message();
  const auto opened = plugin->handover.services->backends().front().open();
  ASSERT_TRUE(opened.ok()) << opened.error().reason;
  ops::DeviceMemory& memory = *(*opened)->memory();
  const auto address = memory.allocate({64});
  ASSERT_TRUE(address.ok());
  int seven = 7, copied = 0;
  auto* inside = static_cast<char*>(*address) + 60;
  EXPECT_TRUE(memory.copy_in(inside, &seven, {4}).ok());
  EXPECT_TRUE(memory.copy_out(&copied, inside, {4}).ok());
  EXPECT_EQ(copied, 7);
  EXPECT_FALSE(memory.copy_out(&copied, inside + 1, {4}).ok());
  EXPECT_THAT(memory.copy_in(&copied, &seven, {4}).error().what, HasSubstr("IllegalAddress"));
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead of dying
        std::memcpy(*address, &seven, sizeof seven);
      },
      testing::KilledBySignal(SIGSEGV), "");
  memory.release(*address);
  EXPECT_THAT(memory.allocate({std::int64_t{2} << 30}).error().what, HasSubstr("MemoryAllocation"));
}

}  // namespace
}  // namespace bench::test::fake_gpu_script_test
