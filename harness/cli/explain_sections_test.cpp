// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"

#include "base/json_writer.hpp"
#include "ops/regret.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace bench {
namespace {

TEST(CeilingSection, ShowsTheIdealTimeOfACase) {
  Ceilings ceilings;
  ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  const Case spec = test::make_case("gemm/forward/m100n100k100/f32/onednn/cpu/hot");
  const auto ideal = compute_ideal(spec, std::nullopt, ceilings);
  ASSERT_TRUE(ideal);
  EXPECT_EQ(format_ideal(*ideal),
            "ceilings\n"
            "  ideal time  20.00 us, bound by compute\n"
            "  arithmetic  100.0 GFLOP/s\n"
            "  dram        10.00 GB/s\n"
            "\n");
  EXPECT_FALSE(compute_ideal(spec, std::nullopt, Ceilings{}));
}

// Earlier, `explain` compared such a case with the memory, whatever its rotation fits into.
TEST(CeilingSection, TakesTheLevelOfTheDataFromTheRotationOfThePreparedCase) {
  Ceilings ceilings;
  ceilings.caches = {{"l2", {1 << 20}}};
  ceilings.rows = {{"read", "l2", 1, BytesPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  const Case spec = test::make_case("gemm/forward/m100n100k100/f32/onednn/cpu/cold_weights");
  PreparedReply prepared;
  prepared.memory = {{120'000}, {40'000}, {0}};
  prepared.details = {{"cold.sets", "2"}, {"cold.bytes", "80000"}};
  EXPECT_EQ(compute_ideal(spec, prepared, ceilings)->level, "l2");
  prepared.details["cold.bytes"] = "8000000";
  EXPECT_EQ(compute_ideal(spec, prepared, ceilings)->level, "dram");
}

TEST(CeilingSection, UsesTheTensorCorePeakForF16ProductsOnAGpu) {
  Ceilings ceilings;
  ceilings.gpu = "Fake GPU";
  ceilings.capability = "9.0";
  ceilings.rows = {{"gemm_f16", "", 1, FlopsPerSecond{1e12}},
                   {"fma_cuda_f32", "", 1, FlopsPerSecond{1e11}}};
  const Case half = test::make_case("gemm/forward/m128n128k128/f16/cublaslt/cuda/hot");
  EXPECT_EQ(compute_ideal(half, std::nullopt, ceilings)->peak_flops_per_s, FlopsPerSecond{1e12});
  const Case single = test::make_case("gemm/forward/m128n128k128/f32/cublaslt/cuda/hot");
  EXPECT_EQ(compute_ideal(single, std::nullopt, ceilings)->peak_flops_per_s, FlopsPerSecond{1e11});
}

constexpr const char* kConv = "conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/hot";

PreparedReply tuned_reply() {
  PreparedReply prepared;
  prepared.details = {{"tuned", "default 560.0 us, chosen 500.0 us: 2 of 3"}};
  add_details(ops::Regret{"jit:avx512_core",
                          Nanoseconds(560'000),
                          "brgconv:avx512_core",
                          Nanoseconds(500'000),
                          {{"jit:avx512_core", Nanoseconds(560'000), ""},
                           {"brgconv:avx512_core", Nanoseconds(500'000), ""},
                           {"gemm:jit", std::nullopt, "not enough memory"}}},
              prepared.details);
  return prepared;
}

Case tuned_case(const char* id) {
  Case spec = test::make_case(id);
  spec.measure.tune = 8;
  return spec;
}

TEST(ChoiceSection, ShowsWhatTheChoiceCostsAndAllCandidates) {
  EXPECT_EQ(format_choice(tuned_case(kConv), tuned_reply()),
            "\nchoice\n"
            "  jit:avx512_core was chosen; brgconv:avx512_core is 12 % faster: the choice costs 12 "
            "%\n"
            "    jit:avx512_core      560.0 us  chosen\n"
            "    brgconv:avx512_core  500.0 us  best\n"
            "    gemm:jit             failed: not enough memory\n");
}

TEST(ChoiceSection, NamesTheCachesIfTheyAreNotThoseOfTheCase) {
  PreparedReply prepared = tuned_reply();
  prepared.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_NE(format_choice(tuned_case(kConv), prepared)
                .find("\n  measured with caches hot, other than those of the case\n    jit"),
            std::string::npos);
}

TEST(ChoiceSection, WithoutAnotherCandidateItNamesNoCaches) {
  PreparedReply prepared;
  add_details(ops::Regret{"gemm:jit",
                          Nanoseconds(560'000),
                          "gemm:jit",
                          Nanoseconds(560'000),
                          {{"gemm:jit", Nanoseconds(560'000), ""}}},
              prepared.details);
  prepared.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared).find("measured with caches"),
            std::string::npos);
}

TEST(ChoiceSection, SaysWhyNothingWasMeasuredAndWhatToDo) {
  PreparedReply prepared;
  prepared.details = {{"tune", "8"}, {"tuned", "no: not enough memory"}};
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared),
            "\nchoice\n"
            "  no other candidate was measured\n"
            "  not enough memory;\n"
            "  remove the cause (if it is memory, free some or choose a smaller shape) and run the "
            "case again\n");
}

// The section was empty.
TEST(ChoiceSection, SaysWhyACaseWithTuneHasNoChoice) {
  Case products = test::make_case("gemm/forward/m4n4k4/f32/openblas/cpu/hot");
  products.measure.tune = 8;
  EXPECT_EQ(format_choice(products, {}),
            "\nchoice\n"
            "  no other candidate was measured\n"
            "  the backend `openblas` offers no choice;\n"
            "  to compare libraries, give the case several backends and run `bench compare RESULT "
            "--by backend`\n");
}

TEST(ChoiceSection, OneCandidateIsNoComparison) {
  PreparedReply prepared;
  prepared.details = {{"tune", "8"}, {"tuned", "default 1.297 us, kept: 1 of 1"}};
  add_details(ops::Regret{"jit:blk",
                          Nanoseconds(1297),
                          "jit:blk",
                          Nanoseconds(1297),
                          {{"jit:blk", Nanoseconds(1297), ""}}},
              prepared.details);
  EXPECT_EQ(format_choice(tuned_case(kConv), prepared),
            "\nchoice\n"
            "  jit:blk was chosen; no other candidate was measured\n"
            "  the library offers no other candidate;\n"
            "  to compare libraries, give the case several backends and run `bench compare RESULT "
            "--by backend`\n"
            "    jit:blk  1.297 us  chosen\n");
}

TEST(ChoiceSection, WithoutTuneNamesTheOptionWhereThereIsAChoice) {
  EXPECT_EQ(format_choice(test::make_case(kConv), {}),
            "\nchoice\n"
            "  the library's own; `--set tune=true` measures its other candidates too\n");
  EXPECT_EQ(format_choice(test::make_case("gemm/forward/m4n4k4/f32/openblas/cpu/hot"), {}), "");
  Case network = test::make_case(kConv);
  network.work = std::shared_ptr<const ops::Network>();
  EXPECT_EQ(format_choice(network, {}), "");
}

TEST(ChoiceSection, IsAFieldOfTheJson) {
  std::string text;
  JsonWriter writer(text);
  write_choice(writer, {});
  EXPECT_EQ(text, "");
  write_choice(writer, tuned_reply());
  EXPECT_EQ(text, R"("regret":{"chosen":"jit:avx512_core","chosen_ns":560000,)"
                  R"("best":"brgconv:avx512_core","best_ns":500000,"candidates":[)"
                  R"({"name":"jit:avx512_core","time_ns":560000},)"
                  R"({"name":"brgconv:avx512_core","time_ns":500000},)"
                  R"({"name":"gemm:jit","reason":"not enough memory"}]})");
}

CudaSupport make_plan() {
  CudaSupport support{.runs = "yes", .by = "cuDNN", .reason = "", .basis = "cuDNN 9.19.0 answered"};
  support.steps = {
      {"conv1", "reorder", "transpose", "bench:reorder_pixels", "nchw -> nhwc", {}},
      {"conv1",
       "conv",
       "graph",
       "cudnn:engine_63",
       "nhwc -> nhwc, weights nhwc/plain",
       {"parts", "padded"}},
      {"maxpool", "pool", "graph", "cudnn:n/a", "nhwc -> nhwc", {"native"}},
      {"layer1.0.downsample", "conv", "parts", "cudnn:engine_0", "nhwc -> nhwc, weights nhwc", {}},
      {"layer1.0.downsample", "epilogue", "parts", "bench:elementwise", "nhwc -> nhwc", {}},
      {"fc", "gemm", "product", "cublaslt", "plain -> plain, weights plain", {}}};
  return support;
}

TEST(NetworkPlanSection, AnswersInASentenceThenInATableThenNamesTheNextCommand) {
  EXPECT_EQ(format_network_plan(make_plan(), "NVIDIA H100", "bench run ID", 80),
            "On NVIDIA H100 the network runs in 6 steps: 5 kernels (2 graphs of cuDNN, 1\n"
            "product of cuBLASLt, 2 parts of split layers) and 1 transpose. 2 layers can run\n"
            "in another way, too: the GPU measures which one is the fastest and begins with\n"
            "the first one of the table.\n"
            "(cuDNN 9.19.0 answered)\n"
            "\n"
            "  layer                runs as             kernel                layouts\n"
            "  conv1                transpose           bench:reorder_pixels  nchw -> nhwc\n"
            "  conv1                graph/parts/padded  cudnn:engine_63       nhwc -> nhwc\n"
            "  maxpool              graph or native     cudnn:n/a             nhwc -> nhwc\n"
            "  layer1.0.downsample  parts               cudnn:engine_0        nhwc -> nhwc\n"
            "  layer1.0.downsample  parts               bench:elementwise     nhwc -> nhwc\n"
            "  fc                   product             cublaslt              plain -> plain\n"
            "\n"
            "Next: measure the network on that GPU:\n"
            "  bench run ID\n"
            "\n");
}

TEST(NetworkPlanSection, OfANetworkThatDoesNotRunHasTheReason) {
  const CudaSupport refused{
      .runs = "no", .by = "", .reason = "conv1: bf16 needs compute capability 8.0, this is 7.5"};
  EXPECT_EQ(format_network_plan(refused, "Tesla T4", "bench run ID", 80),
            "On Tesla T4 the network does not run: conv1: bf16 needs compute capability 8.0,\n"
            "this is 7.5.\n\n");
  const CudaSupport unknown{
      .runs = "unknown", .by = "", .reason = "this plugin was built without cuDNN"};
  EXPECT_EQ(format_network_plan(unknown, "Tesla T4", "bench run ID", 80),
            "On Tesla T4 it is not known whether the network runs: this plugin was built\n"
            "without cuDNN.\n\n");
}

}  // namespace
}  // namespace bench
