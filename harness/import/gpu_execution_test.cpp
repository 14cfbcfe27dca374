// SPDX-License-Identifier: Apache-2.0
#include "harness/import/gpu_execution.hpp"

#include "harness/import/import_test_support.hpp"
#include "harness/import/receipt.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kProfiles = BENCH_SOURCE_DIR "/profiler/readers/testdata/";

// SQLite files are read from the disk, so the source is the file.
Result<ImportOutput> import_gpu_file(const std::string& name) {
  ImportRequest request{.files = {{kProfiles + name, {}}}};
  request.open = [](const std::string& path) { return open_profile(path); };
  return import_files(*find_import_kind("profile"), request);
}

std::string gpu_receipt(const ImportOutput& output) {
  return format_receipt(*find_import_kind("profile"), output.found, output.found.cases.size(), 400);
}

// "REASON: TEXT, EXECUTIONS"
std::vector<std::string> gpu_refusals(const ImportOutput& output) {
  std::vector<std::string> lines;
  for (const RefusedProblem& problem : output.found.refused)
    lines.push_back(fmt::format("{}: {}, {}", problem.reason, problem.text, problem.use->count));
  return lines;
}

// The FLOPs of the cases of a configuration.
std::vector<std::int64_t> case_flops(const std::string& text) {
  std::vector<std::int64_t> flops;
  for (const Case& item : test::load_suite(text).cases) {
    const auto problem = problem_from_key(item.key);
    flops.push_back(problem.ok() ? problem->work.flops : 0);
  }
  return flops;
}

TEST(ImportedGpuProfiles, OperatorsOfATraceOfKinetoAreCases) {
  const auto output = import_gpu_file("kineto_gpu.json");
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("conv/forward/n2c3h8w8k4r3s3p1/f16/cudnn/cuda/hot",
                          "gemm/forward/m8n4k16/f32/cublaslt/cuda/hot"));
  ASSERT_TRUE(output.ok());
  EXPECT_THAT(case_flops(output->text), ElementsAre(27648, 1024));
  // The conversion of the layout is work of the convolution.
  EXPECT_THAT(output->text, HasSubstr("# 1 execution, 23.51 us: 59.5 % of the GPU's work"));
  EXPECT_THAT(output->text, HasSubstr("device: cuda, multiplicity: 1 }"));
  EXPECT_THAT(gpu_receipt(*output),
              HasSubstr("2 cases repeat 72.2 % of the 39.51 us of the GPU's work, 2 executions."));
  EXPECT_THAT(gpu_receipt(*output), HasSubstr("11.00 us (27.8 %) are outside of operators that the "
                                              "profile states: 2 kernels, copies and memsets."));
}

TEST(ImportedGpuProfiles, EachGradientOfAConvolutionIsACase) {
  for (const char* name : {"nsys.sqlite", "nvprof.sqlite"}) {
    const auto output = import_gpu_file(name);
    EXPECT_THAT(test::imported_ids(output),
                ElementsAre("conv/backward_weights/n32c64h56w56k64r3s3p1/f16/cudnn/cuda/hot",
                            "conv/forward/n32c64h56w56k64r3s3p1/f16/cudnn/cuda/hot",
                            "conv/backward_data/n32c64h56w56k64r3s3p1/f16/cudnn/cuda/hot"))
        << name;
    ASSERT_TRUE(output.ok());
    EXPECT_THAT(case_flops(output->text), ElementsAre(7398752256, 7398752256, 7398752256));
    for (const ImportedCase& item : output->found.cases) EXPECT_EQ(item.use->count, 2);
    // 110 us of the kernel and 2 us of the memset before or after it, twice.
    EXPECT_EQ(output->found.cases[1].use->time, std::chrono::microseconds(224));
    EXPECT_THAT(gpu_refusals(*output), IsEmpty());
  }
}

TEST(ImportedGpuProfiles, PyprofsMarkersGiveAllParameters) {
  const auto output = import_gpu_file("pyprof_net.dict");
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("conv/forward/n32c64h56w56k64r3s3p1/f16/cudnn/cuda/hot",
                          "gemm/forward/b128m128n128k64+two/f16/cublaslt/cuda/hot"));
  ASSERT_TRUE(output.ok());
  EXPECT_THAT(case_flops(output->text), ElementsAre(7398752256, 268435456));
  EXPECT_THAT(gpu_refusals(*output),
              ElementsAre(HasSubstr("which gradient its kernels compute: matmul backward"),
                          HasSubstr("__iadd__ forward f32 32, 1")));
}

TEST(ImportedGpuProfiles, ATableThatCutsParametersHasNoCasesOfThem) {
  const auto output = import_gpu_file("pyprof_resnet50.txt");
  ASSERT_TRUE(output.ok());
  EXPECT_THAT(
      test::imported_ids(output),
      ElementsAre(HasSubstr("/add-32x256x56x56-32x256x56x56/f16/cudnn/cuda/hot"),
                  HasSubstr("/relu-32x64x112x112/f16/"), HasSubstr("/relu-32x256x56x56/f16/"),
                  HasSubstr("/relu-32x64x56x56/f16/")));
  EXPECT_THAT(gpu_receipt(*output), HasSubstr("the profile does not"));
}

TEST(ImportedGpuProfiles, ATableWithAllParametersHasConvolutionsAndProducts) {
  const auto output = import_gpu_file("pyprof_csv.txt");
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre(HasSubstr("pointwise/forward/add-"),
                          "conv/forward/n32c64h56w56k64r3s3p1/f16/cudnn/cuda/hot",
                          "gemm/forward/b128m128n128k64+two/f16/cublaslt/cuda/hot",
                          "gemm/forward/m1024n64k512/f16/cublaslt/cuda/hot",
                          "gemm/forward/m512n64k1024/f16/cublaslt/cuda/hot"));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(case_flops(output->text).at(1), 7398752256);
}

TEST(ImportedGpuProfiles, PrimitivesOfTheCpuAreCasesBesideOperatorsOfTheGpu) {
  const auto output = test::import_text(
      "profile", "net.jsonl",
      R"({"record":"profile","schema":"bench.profile/1"})"
      "\n"
      R"({"record":"activity","kind":"primitive","name":"matmul","start_ns":1,"duration_ns":10,)"
      R"("attributes":{"primitive":"matmul","phase":"exec","problem":"8x16:16x4",)"
      R"("memory_descriptors":"src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 )"
      R"(dst_f32::blocked:ab:f0"}})"
      "\n"
      R"({"record":"activity","kind":"kernel","name":"fprop","start_ns":20,"duration_ns":30,)"
      R"("direction":"forward","attributes":{"op":"conv","parameters":"c8h4w4k8r3s3p1",)"
      R"("dtype":"f16","flops":18432}})"
      "\n");
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("gemm/forward/m8n4k16+two/f32/onednn/cpu/hot",
                          "conv/forward/c8h4w4k8r3s3p1/f16/cudnn/cuda/hot"));
  ASSERT_TRUE(output.ok());
  EXPECT_THAT(gpu_receipt(*output), HasSubstr("1 case repeats 100.0 % of the 10 ns that the "));
  EXPECT_THAT(gpu_receipt(*output), HasSubstr("1 case repeats 100.0 % of the 30 ns of the GPU's"));
}

TEST(ImportedGpuProfiles, WorkWithoutOperatorsIsNoCase) {
  const auto output = import_gpu_file("nvprof_trace.csv");
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(output->found.cases.empty());
  EXPECT_TRUE(output->found.refused.empty());
  EXPECT_GT(output->found.unattributed.count, 0);
}

}  // namespace
}  // namespace bench
