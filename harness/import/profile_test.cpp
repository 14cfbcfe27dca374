// SPDX-License-Identifier: Apache-2.0
#include "harness/import/import_test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::import_text;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kInfo =
    "onednn_verbose,info,oneDNN v3.2.0 (commit 0)\n"
    "onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,"
    "memory_descriptors,attributes,auxiliary,problem_desc,exec_time\n";

// A log of one line per record; each text is what follows "onednn_verbose,exec,cpu,".
Result<ImportOutput> import_log_lines(const std::vector<std::string>& records) {
  std::string text(kInfo);
  for (const std::string& record : records) text += "onednn_verbose,exec,cpu," + record + "\n";
  return import_text("profile", "net.log", text);
}

std::string convolution(const std::string& layout, const std::string& attributes,
                        const std::string& time) {
  return "convolution,brgconv:avx2,forward_inference,src_f32::blocked:" + layout +
         ":f0 wei_f32:a:blocked:Acdb16a:f0 bia_undef::undef::f0 dst_f32::blocked:" + layout +
         ":f0," + attributes +
         ",alg:convolution_direct,mb1_ic16oc32_ih14oh14kh3sh1dh0ph1_"
         "iw14ow14kw3sw1dw0pw1," +
         time;
}

std::string product(const std::string& weights, const std::string& attributes) {
  return "matmul,brg:avx2,undef,src_f32::blocked:ab:f0 wei_f32:" + weights +
         ":f0 dst_f32::blocked:ab:f0," + attributes + ",,8x16:16x4:8x4,0.5";
}

TEST(ImportedProfiles, GiveOneCasePerDistinctPrimitiveTheMostExpensiveFirst) {
  const auto output = import_log_lines(
      {product(":blocked:ab", ""), convolution("acdb", "", "2.5"), convolution("acdb", "", "1.5")});
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("conv/forward/c16h14w14k32r3s3p1/f32/onednn/cpu/hot/nhwc",
                          "gemm/forward/m8n4k16+two/f32/onednn/cpu/hot"));
  EXPECT_THAT(output->text, HasSubstr("# 2 executions, 4.000 ms: 88.9 % of the time"));
  EXPECT_THAT(output->text, HasSubstr("layout: nhwc, multiplicity: 2 }"));
  EXPECT_EQ(test::load_suite(output->text).cases.at(1).count, 1);
}

std::string reorder(std::string_view source, std::string_view destination, std::string_view sizes) {
  return fmt::format("reorder,jit:uni,undef,src_{}:f0 dst_{}:f0,,,{},1", source, destination,
                     sizes);
}

TEST(ImportedProfiles, ReordersWithoutBlocksAreCases) {
  const auto output =
      import_log_lines({reorder("f32::blocked:abcd", "f32::blocked:acdb", "2x8x4x4"),
                        reorder("f32::blocked:ba", "f32::blocked:ab", "8x16"),
                        reorder("f32::blocked:abcd", "f32::blocked:bacd", "2x8x4x6"),
                        reorder("f32::blocked:ab", "bf16::blocked:ab", "8x16")});
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("reorder/forward/2x8x4x4-nchw-nhwc/f32/onednn/cpu/hot",
                          "reorder/forward/16x8-p1x0/f32/onednn/cpu/hot",
                          "reorder/forward/2x8x4x6-p1x0x2x3/f32/onednn/cpu/hot",
                          "reorder/forward/8x16-bf16/f32/onednn/cpu/hot"));
  EXPECT_TRUE(output->found.refused.empty());
}

// They were refused: a quarter of the time of a ResNet-50.
TEST(ImportedProfiles, ReordersThatPackWeightsArePermutationsOfBlocks) {
  const auto output =
      import_log_lines({reorder("f32::blocked:abcd", "f32:a:blocked:AcdB16b64a", "64x16x3x3"),
                        reorder("f32::blocked:acdb", "f32::blocked:Acdb32a", "64x16x3x3"),
                        reorder("bf16::blocked:abcd", "bf16:a:blocked:AcdB16b64a2b", "128x64x1x1"),
                        reorder("f32::blocked:ab", "bf16::blocked:BA16a64b", "32x128"),
                        reorder("f32::blocked:AB32a16b", "f32::blocked:AB8a16b", "64x32")});
  EXPECT_TRUE(output->found.refused.empty());
  // Weights that are read once per step of the program are in no cache.
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("reorder/forward/64x16x3x3-p2x3x1x0/f32/onednn/cpu/cold",
                          "reorder/forward/2x32x3x3x16-p0x2x3x4x1/f32/onednn/cpu/cold",
                          "reorder/forward/2x64x2x16x2-p0x2x3x1x4/bf16/onednn/cpu/cold",
                          "reorder/forward/2x16x2x64-bf16-p2x0x1x3/f32/onednn/cpu/cold",
                          "reorder/forward/2x2x4x8x16-p0x2x1x3x4/f32/onednn/cpu/hot"));
}

TEST(ImportedProfiles, ReordersThatNoPermutationExpressesAreRefusedWithTheReason) {
  const auto output = import_log_lines(
      {reorder("f32::blocked:acdb", "f32::blocked:Acdb48a", "64x16x3x3"),
       reorder("f32::blocked:abcd", "f32::blocked:aBcd8b", "2x20x4x4"),
       reorder("f32::blocked:AB6a", "f32::blocked:AB4a", "24x16"),
       reorder("f32::blocked:ab:40x1", "f32::blocked:ba", "24x16"),
       reorder("f32::blocked:ab", "f32::blocked:BA99999999999999999a9223372036854775807a", "24x16"),
       reorder("f32::blocked:ab", "f32::blocked:aab", "24x16")});
  EXPECT_TRUE(output->found.cases.empty());
  EXPECT_THAT(
      test::refusals(output),
      ElementsAre("3: the layout `Acdb48a` pads the last block of a dimension, which no case does; "
                  "a case of the primitive that reads these weights packs them before it measures "
                  "(`reorder_ns`)",
                  "4: the layout `aBcd8b` pads the last block of a dimension, which no case does",
                  "5: the blocks of its layouts do not fit together",
                  "6: a tensor has the strides of a larger one", HasSubstr("7: the layout `BA"),
                  "8: cases do not have the layout `aab`"));
}

TEST(ImportedProfiles, TheMedianOfManyExecutionsIsWithinOnePercent) {
  ExecutionTimes times;
  EXPECT_EQ(times.median(), std::nullopt);
  for (int i = 1; i <= 1001; ++i) times.add(Nanoseconds(i));
  EXPECT_EQ(times.median(), Nanoseconds(501));
  for (int i = 1002; i <= 9999; ++i) times.add(Nanoseconds(i));
  EXPECT_NEAR(static_cast<double>(times.median()->count()), 5000, 50);
}

TEST(ImportedProfiles, LayoutsAreThoseOfTheProgram) {
  EXPECT_THAT(test::imported_ids(import_log_lines({convolution("abcd", "", "1")})),
              ElementsAre("conv/forward/c16h14w14k32r3s3p1/f32/onednn/cpu/hot/nchw"));
  EXPECT_THAT(test::imported_ids(import_log_lines({convolution("aBcd16b", "", "1")})),
              ElementsAre("conv/forward/c16h14w14k32r3s3p1/f32/onednn/cpu/hot"));
  EXPECT_THAT(test::refusals(import_log_lines({convolution("bacd", "", "1")})),
              ElementsAre("3: cases do not have the layout `bacd`"));
}

TEST(ImportedProfiles, WeightsThatTheLibraryLaysOutAreNoSecondInput) {
  EXPECT_THAT(test::imported_ids(import_log_lines({product("a:blocked:BA16a64b", "")})),
              ElementsAre("gemm/forward/m8n4k16/f32/onednn/cpu/hot"));
  EXPECT_THAT(test::imported_ids(import_log_lines({product(":blocked:ba", "")})),
              ElementsAre("gemm/forward/m8n4k16+tb+two/f32/onednn/cpu/hot"));
}

TEST(ImportedProfiles, PostOpsAndMathAreThoseOfTheProgram) {
  const auto output = import_log_lines(
      {product(":blocked:ab", "attr-scratchpad:user attr-fpmath:tf32 attr-post-ops:eltwise_relu")});
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("gemm/forward/m8n4k16+two+relu/f32/onednn/cpu/hot/tf32"));
}

TEST(ImportedProfiles, WhatNoCaseHasIsRefusedWithItsTime) {
  const auto output = import_log_lines(
      {product(":blocked:ab", ""), product(":blocked:ab", "attr-fpmath:bf16"),
       product(":blocked:ab", "attr-fpmath:bf16"),
       product(":blocked:ab", "attr-dropout:undef:s32:0:0"), product(":blocked:ba:64x1", "")});
  EXPECT_THAT(test::refusals(output),
              ElementsAre("4: cases do not have the math mode `bf16`",
                          "6: cases do not have the attribute `attr-dropout`", HasSubstr("7: ")));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->found.refused[0].use->count, 2);
  EXPECT_EQ(output->found.refused[0].use->time, std::chrono::milliseconds(1));
  EXPECT_EQ(output->found.time(), std::chrono::microseconds(2500));
  EXPECT_EQ(output->found.cases_time(), std::chrono::microseconds(500));
}

TEST(ImportedProfiles, EachCaseOfAFileWithoutLinesHasItsOwnTime) {
  const std::string profile = R"({"record":"profile","schema":"bench.profile/1"})"
                              "\n";
  const auto record = [](const char* sizes, int duration) {
    return fmt::format(
        R"({{"record":"activity","kind":"primitive","name":"matmul","start_ns":1,)"
        R"("duration_ns":{},"attributes":{{"primitive":"matmul","phase":"exec","problem":"{}",)"
        R"("memory_descriptors":"src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 )"
        R"(dst_f32::blocked:ab:f0"}}}})"
        "\n",
        duration, sizes);
  };
  const auto output = import_text("profile", "net.jsonl",
                                  profile + record("8x16:16x4", 10) + record("8x16:16x8", 30));
  ASSERT_TRUE(output.ok()) << output.error().message();
  EXPECT_THAT(output->text, HasSubstr("# net.jsonl: matmul 8x16:16x8\n  # 1 execution, 30 ns"));
  EXPECT_THAT(output->text, HasSubstr("# net.jsonl: matmul 8x16:16x4\n  # 1 execution, 10 ns"));
}

TEST(ImportedProfiles, CreationsAndLinesOfTheProgramAreNoExecutions) {
  std::string text(kInfo);
  text += "hello\nonednn_verbose,create:cache_miss,cpu," + product(":blocked:ab", "") + "\n";
  const auto output = import_text("profile", "net.log", text);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(output->found.cases.empty());
  EXPECT_TRUE(output->found.refused.empty());
}

}  // namespace
}  // namespace bench
