// SPDX-License-Identifier: Apache-2.0
// What an NVTX tool sees of a case on a GPU: one range that contains only the measured samples.
// Faults of the fake GPU show where a range begins and ends: a worker that dies does not close an
// open range.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::fake_gpu_nvtx_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

// One warm-up sample and five measured ones of one execution each: 2 ms are long enough for a
// sample, and reach the case's share of the time.
constexpr int kWarmUp = 1;
constexpr int kMeasured = 5;
constexpr const char* kConfig = R"(version: 1
name: gpu
defaults:
  warmup: { iterations: 1, time: 0ms }
  measure: { processes: 2, min_iterations: 5, max_time: 2ms }
cases:
  - { op: gemm, m: 4, n: 4, k: 4, device: cuda }
)";
constexpr const char* kPush = "push layer:gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";

class FakeGpuNvtx : public testing::Test {
 protected:
  // Runs under a tool that does nothing, on a device with these faults.
  ProgramResult run(const std::string& faults) {
    folder_.write("gpu.yaml", kConfig);
    const std::string script = folder_.write(
        "script.json", R"({"cases":[{"match":"*","ns":2000000}],"faults":[)" + faults + "]}");
    std::filesystem::remove(folder_.file("log"));
    return run_program({{BENCH_BINARY, "run", "gpu.yaml", "--under", "env", "--out", "r.jsonl",
                         "--force", "--quiet"},
                        folder_.path(),
                        {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU},
                         {"FAKE_GPU_SCRIPT", script},
                         {"NVTX_INJECTION64_PATH", BENCH_NVTX_INJECTION},
                         {"BENCH_NVTX_LOG", folder_.file("log")}}});
  }
  // The worker dies at sample `number`, counted from 0, or at another moment that `at` names.
  ProgramResult run_until(int number, const std::string& at = "sample") {
    return run(
        fmt::format(R"({{"at":"{}","match":"gemm/m4*","kind":"abort","after":{}}})", at, number));
  }
  // Returns the logged NVTX calls without their thread.
  std::vector<std::string> calls() const {
    std::vector<std::string> found;
    if (!std::filesystem::exists(folder_.file("log"))) return found;
    std::istringstream lines(read_text(folder_.file("log")));
    for (std::string line; std::getline(lines, line);) {
      found.push_back(line.substr(line.find(' ') + 1));
    }
    return found;
  }
  std::vector<json> processes() const {
    return records_of_kind(read_text(folder_.file("r.jsonl")), "process");
  }

  TemporaryFolder folder_;
};

TEST_F(FakeGpuNvtx, OneRangeNamedByItsCase) {
  const ProgramResult result = run("");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(calls(), ElementsAre(kPush, "pop"));
  ASSERT_EQ(processes().size(), 1U);
  EXPECT_EQ(processes()[0]["samples_ns"].size(), static_cast<std::size_t>(kMeasured));
  EXPECT_EQ(processes()[0]["iterations_per_sample"], 1);
  EXPECT_EQ(processes()[0]["warmup_iterations"], kWarmUp);
}

TEST_F(FakeGpuNvtx, PreparationCheckAndWarmUpAreOutsideOfIt) {
  for (const char* const moment : {"create", "execution"}) {
    EXPECT_EQ(run_until(0, moment).status, 3) << moment;
    EXPECT_THAT(calls(), IsEmpty()) << moment;
  }
  for (int sample = 0; sample < kWarmUp; ++sample) {
    EXPECT_EQ(run_until(sample).status, 3) << sample;
    EXPECT_THAT(calls(), IsEmpty()) << sample;
  }
}

TEST_F(FakeGpuNvtx, EverySampleThatCountsIsInIt) {
  for (int sample = kWarmUp; sample < kWarmUp + kMeasured; ++sample) {
    EXPECT_EQ(run_until(sample).status, 3) << sample;
    EXPECT_THAT(calls(), ElementsAre(kPush)) << sample;
  }
  EXPECT_EQ(run_until(kWarmUp + kMeasured).status, 0) << "nothing is sampled behind the range";
  EXPECT_THAT(calls(), ElementsAre(kPush, "pop"));
}

// An open range would include everything that follows in the worker.
TEST_F(FakeGpuNvtx, ASampleThatFailsClosesIt) {
  EXPECT_EQ(run(R"({"at":"sample","match":"gemm/m4*","kind":"fail","after":3})").status, 3);
  EXPECT_THAT(calls(), ElementsAre(kPush, "pop"));
}

}  // namespace
}  // namespace bench::test::fake_gpu_nvtx_test
