// SPDX-License-Identifier: Apache-2.0
// `bench peak` on the fake GPU (fakes/fake_gpu), whose script gives each loop its time, and the
// rooflines of later cases.
#include "tests/support/peak_results.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::fake_gpu_peak_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class FakeGpuPeakTest : public PeakResultsTest {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program(
        {std::move(arguments),
         folder_.path(),
         {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU}, {"FAKE_GPU_SCRIPT", script_}, {"COLUMNS", "80"}}});
  }
  void use_fake_gpu(const std::string& script) { script_ = folder_.write("script.json", script); }
  std::string script_;
};

// Times of the loops: 137.4 GFLOP in 1.374 ms, and 4 MiB in 4.194 us and 2.097 us. An empty kernel
// is shorter than a copy.
constexpr const char* kGpuScript = R"({
  "device": {"multiprocessors": 1, "memory_bytes": 8388608, "cache_bytes": 1048576,
             "memory_clock_khz": 10000000, "memory_bus_bits": 800},
  "cases": [
    {"match": "peak/fma_cuda-*", "ns": 1374390},
    {"match": "peak/read-b2097152s2", "ns": 4194},
    {"match": "peak/read-b262144s16", "ns": 2097},
    {"match": "peak/copy-b1024", "ns": 900, "details": {"launch_floor_ns": "700"}},
    {"match": "gemm/m64n64k64", "ns": 2000}]})";

TEST_F(FakeGpuPeakTest, MeasuresTheCeilingsOfAGpu) {
  use_fake_gpu(kGpuScript);
  const ProgramResult peak =
      bench({"peak", "--quick", "--device", "cuda", "--filter", "peak/*/fma*/f32/*", "--filter",
             "*/read*", "--filter", "*/copy-b1024/*"});
  ASSERT_EQ(peak.status, 0) << peak.err;
  EXPECT_THAT(peak.out, StartsWith("Fake GPU computes in f32 at most 100.0 TFLOP/s and moves from "
                                   "its memory at most\n1.000 TB/s.\n"));
  EXPECT_THAT(peak.out, HasSubstr("ceiling       level            GPU\n"
                                  "fma_cuda_f32         100.0 TFLOP/s\n"
                                  "read          l2        2.000 TB/s\n"
                                  "read          dram      1.000 TB/s\n"
                                  "dispatch                    700 ns\n"
                                  "\nBy its clock and its bus, the memory of Fake GPU moves 2.000 "
                                  "TB/s; 50 % of it\nwas reached.\n"));
  EXPECT_EQ(peak.err.find("bench peak:"), std::string::npos) << peak.err;
  std::istringstream lines(read_text(peak_file()));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_THAT(schema_problems(line, "docs/peak.schema.json"), IsEmpty()) << line;
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("gpu"), "Fake GPU");
    EXPECT_EQ(record.at("threads"), 1);
  }
  EXPECT_EQ(count, 4);
}

// A product of f16 is compared with tensor cores, one of f32 with the CUDA cores.
TEST_F(FakeGpuPeakTest, CasesOnAGpuAreComparedWithItsCeilings) {
  use_fake_gpu(kGpuScript);
  ASSERT_EQ(bench({"peak", "--quick", "--device", "cuda", "--filter", "*/copy-b1024/*"}).status, 0);
  auto line = nlohmann::json::parse(read_text(peak_file()));
  const auto store = [&](const char* name, const char* unit, double value) {
    nlohmann::json ceiling = line;
    ceiling.erase("ns");
    ceiling["name"] = name;
    ceiling[unit] = ceiling["low"] = ceiling["high"] = value;
    if (std::string(unit) == "bytes_per_s") ceiling["level"] = "l2";
    std::ofstream(peak_file(), std::ios::app) << ceiling.dump() << '\n';
  };
  store("gemm_f16", "flops_per_s", 524288e6);         // the product takes 1 us
  store("fma_cuda_f32", "flops_per_s", 201649.23e6);  // 2.6 us
  store("read", "bytes_per_s", 1e12);
  const std::string half = "gemm/forward/m64n64k64/f16/cublaslt/cuda/hot";
  const ProgramResult run = bench({"run", half, "--quick", "--out", "half.jsonl"});
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json roofline = case_record("half.jsonl").at("roofline");
  EXPECT_EQ(roofline.at("ideal_ns"), 1000);
  EXPECT_EQ(roofline.at("efficiency"), 0.5);
  EXPECT_EQ(roofline.at("bound"), "compute");
  EXPECT_EQ(roofline.at("level"), "l2");
  EXPECT_EQ(roofline.at("source"), "stored");

  const std::string single = "gemm/forward/m64n64k64/f32/cublaslt/cuda/hot";
  ASSERT_EQ(bench({"run", single, "--quick", "--out", "single.jsonl"}).status, 0);
  const nlohmann::json record = case_record("single.jsonl");
  EXPECT_EQ(record.at("roofline").at("ideal_ns"), 2600);
  EXPECT_THAT(record.at("flags"), testing::Contains("above_ceiling"));
  EXPECT_THAT(record.at("details").at("advice.tensor_cores").get<std::string>(),
              HasSubstr("tensor cores cannot compute it"));
  EXPECT_THAT(bench({"explain", half}).out, HasSubstr("ideal time  1.000 us, bound by compute"));
}

// The stored ceiling is a quarter of what the product for ceilings reaches in the run.
TEST_F(FakeGpuPeakTest, ACeilingOfAGpuIsMeasuredAgainBeforeATimeIsRefused) {
  std::string script = kGpuScript;
  script.replace(script.rfind("]}"), 2, R"(, {"match": "gemm/m512n512k512*", "ns": 512000}]})");
  use_fake_gpu(script);
  ASSERT_EQ(bench({"peak", "--quick", "--device", "cuda", "--filter", "*/copy-b1024/*"}).status, 0);
  auto line = nlohmann::json::parse(read_text(peak_file()));
  line.erase("ns");
  line["name"] = "gemm_f16";
  line["flops_per_s"] = line["low"] = line["high"] = 131072e6;  // 4 us for a product of 2 us
  std::ofstream(peak_file(), std::ios::app) << line.dump() << '\n';
  const ProgramResult run =
      bench({"run", "gemm/forward/m64n64k64/f16/cublaslt/cuda/hot", "--quick", "--out", "a.jsonl"});
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json record = case_record("a.jsonl");
  EXPECT_EQ(record.at("roofline").at("ideal_ns"), 1000);
  EXPECT_EQ(record.at("details").at("ceilings.measured_again"),
            "gemm_f16: 131.1 GFLOP/s stored, 524.3 GFLOP/s measured again");
}

TEST_F(FakeGpuPeakTest, AGpuThatIsNotThereIsMissedOnlyIfItWasNamed) {
  use_fake_gpu(R"({"device": null, "verdict": {"availability": "no_driver",
                   "reason": "libcuda.so.1 was not found"}})");
  const ProgramResult named = bench({"peak", "--quick", "--device", "cuda"});
  EXPECT_EQ(named.status, 3);
  EXPECT_THAT(named.err, HasSubstr("libcuda.so.1 was not found"));
  EXPECT_EQ(bench({"peak", "--quick", "--filter", "*/fma_portable*t1"}).status, 0);
}

}  // namespace
}  // namespace bench::test::fake_gpu_peak_test
