// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/import/import_test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::import_text;
using test::imported_ids;
using test::refusals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The ids of the text's cases, without what is the same in all.
std::vector<std::string> ids_of(const std::string& driver, const std::string& text) {
  return imported_ids(import_text("benchdnn", "problems", text, {}, driver));
}

std::vector<std::string> reasons_of(const std::string& driver, const std::string& text) {
  return refusals(import_text("benchdnn", "problems", text, {}, driver));
}

// A row of tests/data/import/benchdnn_rows.tsv.
struct GoldenRow {
  std::string driver, descriptor, parameters;
  std::optional<std::int64_t> macs;
  std::int64_t outputs = 0;
};

std::vector<GoldenRow> read_golden_rows() {
  const auto text =
      read_file(std::string(BENCH_SOURCE_DIR) + "/tests/data/import/benchdnn_rows.tsv", 1'000'000);
  EXPECT_TRUE(text.ok());
  std::vector<GoldenRow> rows;
  std::string_view rest = *text;
  cut_field(rest, '\n');  // the heading
  while (!rest.empty()) {
    std::string_view line = cut_field(rest, '\n');
    GoldenRow row;
    row.driver = cut_field(line, '\t');
    row.descriptor = cut_field(line, '\t');
    row.parameters = cut_field(line, '\t');
    row.macs = parse_number<std::int64_t>(cut_field(line, '\t'));
    row.outputs = parse_number<std::int64_t>(line).value_or(0);
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(Benchdnn, GoldenDescriptorsGiveTheirSizesAndProducts) {
  const std::vector<GoldenRow> rows = read_golden_rows();
  ASSERT_THAT(rows, SizeIs(231));
  for (const GoldenRow& row : rows) {
    const auto output = import_text("benchdnn", "problems", row.descriptor, {}, row.driver);
    ASSERT_TRUE(output.ok()) << row.descriptor;
    if (!refusals(output).empty()) {  // a window of padding alone
      EXPECT_THAT(refusals(output), ElementsAre(HasSubstr("must not contain only padding")));
      continue;
    }
    const Plan plan = test::load_suite(output->text);
    ASSERT_THAT(plan.cases, SizeIs(1)) << row.descriptor;
    EXPECT_EQ(plan.cases[0].key.parameters, row.parameters) << row.descriptor;
    const auto& problem = std::get<ops::Problem>(plan.cases[0].work);
    EXPECT_EQ(problem.work.macs, row.macs) << row.descriptor;
    EXPECT_EQ(problem.tensors.back().elements(), row.outputs) << row.descriptor;
  }
}

TEST(Benchdnn, OptionsStayUntilTheyChangeOrAreReset) {
  EXPECT_THAT(ids_of("ip", "--dir=FWD_I --dt=bf16\nic4oc8\n--dt=\nic4oc8\n--reset ic4oc8"),
              ElementsAre("gemm/forward/m2n8k4+tb/bf16/onednn/cpu/hot",
                          "gemm/forward/m2n8k4+tb/f32/onednn/cpu/hot",
                          "gemm/forward/m2n8k4+tb+bias/f32/onednn/cpu/hot"));
}

TEST(Benchdnn, ListsOfValuesAreProductsInOneEntry) {
  const auto output = import_text(
      "benchdnn", "problems", "--dir=FWD_I,BWD_D --dt=f32,bf16 --mb=1,4\nic4oc8n\"a\"", {}, "ip");
  EXPECT_THAT(imported_ids(output), SizeIs(8));
  EXPECT_THAT(output->text, HasSubstr("\n  # problems:2: ic4oc8n\"a\"\n"
                                      "  - { op: gemm, n: 8, k: 4, trans_b: true, sweep: { m: [1, "
                                      "4] }, direction: [forward, backward_data], dtype: [f32, "
                                      "bf16] }\n"));
}

TEST(Benchdnn, ABiasOfOneDirectionAloneMakesTwoEntries) {
  EXPECT_THAT(ids_of("ip", "--dir=FWD_B,BWD_D ic4oc8"),
              ElementsAre("gemm/forward/m2n8k4+tb+bias/f32/onednn/cpu/hot",
                          "gemm/backward_data/m2n8k4+tb/f32/onednn/cpu/hot"));
}

TEST(Benchdnn, DirectionsBiasesAndLayoutsOfConvolutions) {
  const std::string conv = "ic4ih5oc8oh5kh3ph1";
  EXPECT_THAT(ids_of("conv", "--dir=BWD_WB --stag=axb --dtag=axb " + conv),
              ElementsAre("conv/backward_weights/n2c4h5w5k8r3s3p1+bias/f32/onednn/cpu/hot/nhwc"));
  EXPECT_THAT(ids_of("conv", "--dir=FWD_D --bia-dt=f32 --stag=nchw " + conv),
              ElementsAre("conv/forward/n2c4h5w5k8r3s3p1+bias/f32/onednn/cpu/hot/nchw"));
  EXPECT_THAT(reasons_of("conv", "--stag=aBx16b " + conv),
              ElementsAre("1: cases do not have the layout `aBx16b`"));
  EXPECT_THAT(reasons_of("conv", "--stag=abx --dtag=axb " + conv),
              ElementsAre("1: the tensors have different layouts"));
  EXPECT_THAT(reasons_of("conv", "--wtag=hwio " + conv),
              ElementsAre("1: cases do not choose the layout of weights (`hwio`)"));
  EXPECT_THAT(reasons_of("conv", "--alg=wino " + conv),
              ElementsAre("1: cases do not choose the algorithm wino"));
}

TEST(Benchdnn, ATransposedConvolution) {
  EXPECT_THAT(ids_of("deconv", "--dir=FWD_D mb1ic4ih4oc8oh8kh3sh2ph1"),
              ElementsAre("conv/forward/c4h4w4k8r3s3u2p1o1+transposed/f32/onednn/cpu/hot"));
}

TEST(Benchdnn, DataTypesAreThoseOfAllTensors) {
  const std::string conv = "ic4ih5oc8oh5kh3ph1";
  EXPECT_THAT(ids_of("conv", "--dir=FWD_I --dt=u8:s8:s32,bf16 " + conv),
              ElementsAre("conv/forward/n2c4h5w5k8r3s3p1/u8/onednn/cpu/hot",
                          "conv/forward/n2c4h5w5k8r3s3p1/bf16/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("conv", "--dt=bf16:bf16:f32 " + conv),
              ElementsAre("1: the destination is f32, that of a case bf16"));
  EXPECT_THAT(reasons_of("conv", "--dt=f32:f32 " + conv),
              ElementsAre("1: `f32:f32` is not one data type or 3"));
  EXPECT_THAT(reasons_of("eltwise", "--dt=s32 4x4"),
              ElementsAre("1: s32 is not the data type of a case"));
}

TEST(Benchdnn, PostOpsOfConvolutions) {
  const std::string conv = "mb1ic4ih5oc8oh5kh3ph1";
  EXPECT_THAT(
      ids_of("conv", "--dir=FWD_I --attr-post-ops=,relu,sum+relu:0.5,add:f32:per_tensor " + conv),
      ElementsAre("conv/forward/c4h5w5k8r3s3p1/f32/onednn/cpu/hot",
                  "conv/forward/c4h5w5k8r3s3p1+relu/f32/onednn/cpu/hot",
                  "conv/forward/c4h5w5k8r3s3p1+add+leaky_relu0.5/f32/onednn/cpu/hot",
                  "conv/forward/c4h5w5k8r3s3p1+add/f32/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("conv", "--dir=FWD_I --attr-post-ops=mul:f32:per_oc " + conv),
              ElementsAre("1: a case cannot have one of the post-ops"));
  EXPECT_THAT(reasons_of("conv", "--dir=FWD_I --attr-post-ops=add:f32:per_moon " + conv),
              ElementsAre("1: the post-op has the unknown mask `per_moon`"));
}

TEST(Benchdnn, ScalesAndZeroPointsOfProducts) {
  EXPECT_THAT(
      ids_of(
          "matmul",
          "--dt=u8:s8:f32 --attr-scales=src:common:0.5+wei:per_oc --attr-zero-points=src:common:3 "
          "8x16:16x4"),
      ElementsAre("gemm/forward/m8n4k16+ss_tensor+ws_channel+szp+dst_f32/u8/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("matmul", "--dt=u8:s8:f32 --attr-scales=dst:common:2 8x16:16x4"),
              ElementsAre("1: a product has no scale dst:common"));
  EXPECT_THAT(reasons_of("conv", "--attr-scales=src:common:2 ic4ih5oc8kh3"),
              ElementsAre("1: only products have --attr-scales"));
}

TEST(Benchdnn, LayoutsAndBatchesOfProducts) {
  EXPECT_THAT(ids_of("matmul", "--stag=ba --wtag=ba 8x16:16x4"),
              ElementsAre("gemm/forward/m8n4k16+ta+tb+two/f32/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("matmul", "6x1x8x16:1x2x16x4"), SizeIs(1));
  EXPECT_THAT(ids_of("matmul", "6x8x16:1x16x4"),
              ElementsAre("gemm/forward/b6wb1m8n4k16/f32/onednn/cpu/hot"));
  EXPECT_THAT(ids_of("matmul", "--bia-dt=f32 --bia_mask=2 8x16:16x4"),
              ElementsAre("gemm/forward/m8n4k16+bias/f32/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("matmul", "--dtag=ba 8x16:16x4"),
              ElementsAre("1: the result of a case is plain"));
  EXPECT_THAT(reasons_of("matmul", "8x16:16x4:8x5"),
              ElementsAre("1: the destination does not have the sizes of the product"));
  EXPECT_THAT(ids_of("matmul", "--grouped=0:3:8+0+4 12x16:3x16x4"),
              ElementsAre("grouped_gemm/forward/8x4-n4k16/f32/onednn/cpu/hot"));
}

TEST(Benchdnn, Pools) {
  EXPECT_THAT(ids_of("pool", "--alg=avg_np,avg_p --dir=FWD_I --tag=axb mb1ic4ih8kh2sh2"),
              ElementsAre("pool/forward/avg_exclude_pad-c4h8w8r2/f32/onednn/cpu/hot/nhwc",
                          "pool/forward/avg_include_pad-c4h8w8r2/f32/onednn/cpu/hot/nhwc"));
  EXPECT_THAT(reasons_of("pool", "ic4ih8kh2dh1"), SizeIs(1));
}

TEST(Benchdnn, Normalisations) {
  EXPECT_THAT(ids_of("bnorm", "--dir=FWD_I --flags=GCH mb1ic4ih8"),
              ElementsAre("batch_norm/forward/c4h8w8/f32/onednn/cpu/hot/nchw"));
  EXPECT_THAT(ids_of("bnorm", "--dir=FWD_I --flags=G mb1ic4ih8"), SizeIs(1));
  EXPECT_THAT(ids_of("lnorm", "--dir=FWD_I,FWD_D,BWD_DW --flags=CH 8x16"), SizeIs(3));
  EXPECT_THAT(ids_of("gnorm", "--dir=FWD_I --flags=CH g2mb1ic4ih8"),
              ElementsAre("group_norm/forward/c4h8w8g2/f32/native/cpu/hot/nchw"));
}

TEST(Benchdnn, ShapedDrivers) {
  EXPECT_THAT(ids_of("softmax", "--alg=LOGSOFTMAX --axis=1 --dir=FWD_D 8x16"),
              ElementsAre("softmax/forward/8x16+log/f32/onednn/cpu/hot"));
  EXPECT_THAT(ids_of("eltwise", "--alg=relu --alpha=0,0.5 --mb=3 8x16"),
              ElementsAre("pointwise/forward/relu-3x16/f32/onednn/cpu/hot",
                          "pointwise/forward/leaky_relu-3x16-alpha0.5/f32/onednn/cpu/hot"));
  EXPECT_THAT(ids_of("binary", "--alg=mul 8x16:8x1"),
              ElementsAre("pointwise/forward/mul-8x16-8x1/f32/onednn/cpu/hot"));
  EXPECT_THAT(ids_of("reduction", "--alg=norm_lp_sum --p=2.0 8x16:8x1"), SizeIs(1));
  EXPECT_THAT(ids_of("concat", "--axis=1 --stag=abx:abx 2x3:2x5"), SizeIs(1));
  EXPECT_THAT(ids_of("reorder", "--sdt=f32 --ddt=bf16 --stag=nchw --dtag=nhwc 2x8x4x4"), SizeIs(1));
  EXPECT_THAT(ids_of("reorder", "--stag=ab --dtag=ba 2x8"), SizeIs(1));
  EXPECT_THAT(reasons_of("eltwise", "--alg=mish 8x16"), SizeIs(1));
  EXPECT_THAT(reasons_of("reorder", "--stag=abx --dtag=ABcd4b4a 2x8x4x4"), SizeIs(1));
}

TEST(Benchdnn, DriversOfRectifiersWindowsAndSizes) {
  EXPECT_THAT(ids_of("prelu", "--dir=FWD_D,BWD_DW 2x16x8x8:1x16x1x1"),
              ElementsAre("prelu/forward/2x16x8x8/f32/onednn/cpu/hot",
                          "prelu/backward_weights/2x16x8x8/f32/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("prelu", "2x16x8x8:2x1x1x1"), SizeIs(1));
  EXPECT_THAT(ids_of("shuffle", "--axis=1 --group=4 --dir=FWD_D,BWD_D 2x16x8x8"),
              ElementsAre("shuffle/forward/2x16x8x8-g4/f32/onednn/cpu/hot",
                          "shuffle/backward_data/2x16x8x8-g4/f32/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("shuffle", "--axis=1 --group=3 2x16x8x8"), SizeIs(1));
  EXPECT_THAT(ids_of("lrn", "--alg=ACROSS,WITHIN mb2ic16ih8ls3"),
              ElementsAre("lrn/forward/2x16x8x8-r3/f32/onednn/cpu/hot/nchw",
                          "lrn/forward/within_channel-2x16x8x8-r3/f32/onednn/cpu/hot/nchw"));
  EXPECT_THAT(ids_of("resampling", "--alg=linear --tag=axb mb2ic16ih8oh16iw8ow4"),
              ElementsAre("resample/forward/linear-2x16x8x8-o16x4/f32/onednn/cpu/hot/nhwc"));
  EXPECT_THAT(reasons_of("resampling", "mb2ic16ih8iw8"), ElementsAre("1: `oh` is missing"));
  EXPECT_THAT(reasons_of("resampling", "--sdt=f32 --ddt=s8 mb2ic16ih8oh16"), SizeIs(1));
}

TEST(Benchdnn, RecurrentCells) {
  EXPECT_THAT(ids_of("rnn", "--alg=VANILLA_LSTM,LBR_GRU,VANILLA_GRU --prop=FWD_I l1t30mb16sic512"),
              ElementsAre("lstm/forward/t30n16i512+state/f32/onednn/cpu/hot",
                          "gru/forward/t30n16i512+state/f32/onednn/cpu/hot",
                          "gru/forward/before-t30n16i512+state/f32/onednn/cpu/hot"));
  EXPECT_THAT(ids_of("rnn", "--activation=TANH --direction=concat --cfg=bf16 t2mb3sic8slc4"),
              ElementsAre("rnn/forward/t2n3i4h8+bidirectional+state/bf16/onednn/cpu/hot"));
  EXPECT_THAT(reasons_of("rnn", "--alg=VANILLA_AUGRU t2mb3sic8"), SizeIs(1));
  EXPECT_THAT(reasons_of("rnn", "--with-peephole=true --alg=VANILLA_LSTM t2mb3sic8"),
              ElementsAre("1: cases do not have --with-peephole=`true`"));
}

TEST(Benchdnn, TheLayoutsOfAllSourcesOfAConcatCount) {
  for (const std::string tags : {"abcd:acdb", "acdb:abcd", "acdb:acdb:abcd"}) {
    const std::string third = tags.size() > 9 ? ":2x5x4x4" : "";
    EXPECT_THAT(reasons_of("concat", "--stag=" + tags + " 2x3x4x4:2x5x4x4" + third),
                ElementsAre("1: the tensors have different layouts"))
        << tags;
  }
  EXPECT_THAT(ids_of("concat", "--stag=acdb:acdb 2x3x4x4:2x5x4x4"), SizeIs(1));
  EXPECT_THAT(ids_of("concat", "--stag=axb --dtag=axb 2x3x4x4:2x5x4x4"), SizeIs(1));
  EXPECT_THAT(reasons_of("concat", "--stag=abx:abx:abx 2x3x4x4:2x5x4x4"),
              ElementsAre("1: `abx:abx:abx` is not one layout or 2"));
}

TEST(Benchdnn, TheLayoutOfATensorOfAPostOpCounts) {
  const std::string conv = " --dir=FWD_I mb1ic4ih5oc8oh5kh3ph1";
  const std::string add = "--attr-post-ops=add:f32:per_tensor";
  EXPECT_THAT(ids_of("conv", add + ":axb --stag=axb --dtag=axb" + conv), SizeIs(1));
  EXPECT_THAT(ids_of("conv", add + ":any --stag=axb --dtag=axb" + conv), SizeIs(1));
  EXPECT_THAT(reasons_of("conv", add + ":abx --stag=axb --dtag=axb" + conv),
              ElementsAre("1: the tensors have different layouts"));
  EXPECT_THAT(reasons_of("conv", add + ":axb --stag=abx --dtag=abx" + conv),
              ElementsAre("1: the tensors have different layouts"));
  EXPECT_THAT(reasons_of("conv", add + ":aBx16b" + conv),
              ElementsAre("1: cases do not have the layout `aBx16b`"));
}

TEST(Benchdnn, BothTypesOfABinaryCount) {
  EXPECT_THAT(reasons_of("binary", "--sdt=f32:f16 8x16:8x16"),
              ElementsAre(HasSubstr("f16, that of a case f32")));
  EXPECT_THAT(reasons_of("binary", "--stag=abx:axb 2x3x4x4:2x3x4x4"),
              ElementsAre("1: the tensors have different layouts"));
}

TEST(Benchdnn, WhatNoCaseHasIsRefusedAndTheOptionNamed) {
  EXPECT_THAT(reasons_of("eltwise", "--inplace=true,false 8x16"),
              ElementsAre("1: cases do not have --inplace=`true`"));
  EXPECT_THAT(reasons_of("matmul", "--strides=64x1:: 8x16:16x4"),
              ElementsAre("1: cases do not have --strides=`64x1::`"));
  EXPECT_THAT(reasons_of("matmul", "--no-such=1 8x16:16x4 --reset 8x16:16x4"),
              ElementsAre("1: cases do not have --no-such"));
  EXPECT_THAT(reasons_of("matmul", "--attr-fpmath=bf16 8x16:16x4"),
              ElementsAre("1: cases do not have the math mode `bf16`"));
  EXPECT_THAT(ids_of("matmul", "--attr-fpmath=tf32 8x16:16x4"),
              ElementsAre("gemm/forward/m8n4k16/f32/onednn/cpu/hot/tf32"));
  EXPECT_THAT(reasons_of("sdpa", "1x1x4x4:1x1x4x4:1x1x4x4"),
              ElementsAre("1: there is no operator for the driver sdpa"));
}

TEST(Benchdnn, OptionsOfTheMeasurementAreIgnored) {
  EXPECT_THAT(
      ids_of("matmul", "-v5 --mode=p --skip-impl=ref --engine=cpu --cold-cache=all 1x1:1x1"),
      SizeIs(1));
}

TEST(Benchdnn, TheFolderOrTheNameGivesTheDriver) {
  EXPECT_THAT(imported_ids(import_text("benchdnn", "inputs/matmul/shapes_2d", "1x2:2x3")),
              SizeIs(1));
  EXPECT_THAT(imported_ids(import_text("benchdnn", "harness_matmul_bert", "1x2:2x3")), SizeIs(1));
  EXPECT_THAT(imported_ids(import_text("benchdnn", "x", "--matmul 1x2:2x3 --eltwise 4x4")),
              SizeIs(2));
  EXPECT_THAT(refusals(import_text("benchdnn", "x", "\n1x2:2x3")),
              ElementsAre("x:2: the driver of `1x2:2x3` is not known; give --driver NAME, or keep "
                          "the file in a folder `conv`, `matmul`, ..."));
  EXPECT_THAT(refusals(import_text("benchdnn", "x", "1x2:2x3", {}, "matmull")),
              ElementsAre("--driver: benchdnn has no driver `matmull`; did you mean `matmul`?"));
}

TEST(Benchdnn, IncludedFilesHaveTheOptionsOfTheirIncluder) {
  const auto output =
      import_text("benchdnn", "inputs/matmul/all", "--dt=bf16\n--batch=two\n3x3:3x3",
                  {{"inputs/matmul/two", "1x1:1x1 --dt=f16 2x2:2x2"}});
  EXPECT_THAT(imported_ids(output), ElementsAre("gemm/forward/m1n1k1/bf16/onednn/cpu/hot",
                                                "gemm/forward/m2n2k2/f16/onednn/cpu/hot",
                                                "gemm/forward/m3n3k3/f16/onednn/cpu/hot"));
  EXPECT_THAT(output->text, HasSubstr("# inputs/matmul/two:1: 1x1:1x1"));
}

TEST(Benchdnn, IncludesThatCannotBeReadAreRefused) {
  EXPECT_THAT(refusals(import_text("benchdnn", "matmul/a", "--batch=b",
                                   {{"matmul/b", "--batch=a --batch=missing"}, {"matmul/a", ""}})),
              ElementsAre("1: the file includes itself", "1: the file cannot be read"));
}

TEST(Benchdnn, HostileFilesEndAtLimits) {
  std::string values = "--dt=f32";
  for (int i = 0; i < 400; ++i) values += ",f32";
  const std::string options = values + " --bia-dt" + values.substr(4);
  EXPECT_THAT(refusals(import_text("benchdnn", "matmul/a", options + " 1x1:1x1")),
              ElementsAre(HasSubstr("the options have too many combinations")));
  std::string many = "--strides=1x1:: --dt=f32";
  for (int i = 0; i < 999; ++i) many += ",f32";
  for (int i = 0; i < 101; ++i) many += " 1x1:1x1";
  EXPECT_THAT(refusals(import_text("benchdnn", "matmul/a", many)),
              ElementsAre(HasSubstr("there are more than 100000 problems up to here")));
  std::map<std::string, std::string> chain;
  for (int i = 0; i < 40; ++i)
    chain["matmul/" + std::to_string(i)] = "--batch=" + std::to_string(i + 1);
  EXPECT_THAT(refusals(import_text("benchdnn", "matmul/a", "--batch=0", chain)),
              ElementsAre("1: files include each other more than 16 deep"));
}

TEST(Benchdnn, AYamlFileIsNone) {
  EXPECT_EQ(recognise_import("a.yaml", "--dt=f32 1x1:1x1"), nullptr);
  EXPECT_EQ(recognise_import("a", "version: 1\ncases: []\n"), nullptr);
  EXPECT_EQ(recognise_import("a", "--- \nversion: 1"), nullptr);
  EXPECT_EQ(recognise_import("a", "- op: gemm"), nullptr);
  EXPECT_EQ(recognise_import("a", "a1: 3"), nullptr);
  EXPECT_EQ(recognise_import("a", ""), nullptr);
  EXPECT_EQ(recognise_import("a", "# comment\n--reset"), find_import_kind("benchdnn"));
  EXPECT_EQ(recognise_import("a", "ic4oc4"), find_import_kind("benchdnn"));
  EXPECT_EQ(recognise_import("a", "4x8:8x4"), find_import_kind("benchdnn"));
}

TEST(Benchdnn, EveryDriverHasItsOptionsOnce) {
  for (const BenchdnnDriver& driver : benchdnn_drivers()) {
    for (const BenchdnnOption& option : driver.options) {
      EXPECT_FALSE(is_benchdnn_run_option(option.name)) << option.name;
      EXPECT_EQ(std::ranges::count(driver.options, option.name, &BenchdnnOption::name), 1);
    }
    EXPECT_EQ(std::ranges::count(other_benchdnn_drivers(), driver.name), 0);
  }
}

}  // namespace
}  // namespace bench
