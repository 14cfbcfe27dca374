// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "profiler/onednn/verbose_activity.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using testing::ElementsAreArray;

Activity activity_of(std::string_view text) {
  VerboseDecoder decoder;
  Activity activity;
  EXPECT_TRUE(fill_activity(decoder.decode(text), activity)) << text;
  return activity;
}

// "conv/n2c16h14w14k32r3s3p1/f32 3612672 FLOP 93696 B"; "n/a" if nothing is understood.
std::string format_work(const std::optional<ActivityWork>& work) {
  if (!work) return "n/a";
  return fmt::format("{}/{}/{} {} FLOP {} B", work->op, work->parameters, work->dtype, work->flops,
                     work->bytes.value_or(-1));
}

// Returns the work of one execution as a text. `fields` are in the format of oneDNN 3.x and
// earlier.
std::string work_of_execution(std::string_view fields) {
  return format_work(
      compute_work(activity_of(fmt::format("onednn_verbose,exec,cpu,{},1", fields))));
}

class Executions final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    if (activity.attributes.text(Attribute::phase) == "exec") {
      works.push_back(format_work(remembering_(activity)));
      EXPECT_EQ(works.back(), format_work(compute_work(activity)));
    }
    return Done{};
  }
  std::vector<std::string> works;

 private:
  WorkProvider remembering_ = make_work_provider();
};

std::vector<std::string> works_of_log(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/onednn/testdata/" + name);
  const auto source =
      bench::text_source_for_test(name, std::string(std::istreambuf_iterator<char>(file), {}));
  Executions sink;
  EXPECT_TRUE(onednn_reader.read(*source, sink).ok()) << name;
  return sink.works;
}

// What the recorded program executes, in its order; counted manually.
const std::vector<std::string> kProgram = {
    "conv/n2c16h14w14k32r3s3p1/f32 3612672 FLOP 93696 B",
    "conv/n2c16h14w14k32r3s3p1/f32 3612672 FLOP 93696 B",
    "conv/n2c16h14w14k32r3s3p1+bias+relu/f32 3637760 FLOP 93824 B",
    "conv/n2c16h14w14k32r3s3p1+bias+add+relu/f32 3650304 FLOP 144000 B",
    "conv//f32 3650304 FLOP 93952 B",  // adds one value per channel after relu: not in a problem
    "conv/n2c16h14w14k32r3s3p1+bias+clip/f32 3637760 FLOP 93824 B",
    "conv/n2c16h14w14k32r3s3p1+bias/bf16 3625216 FLOP 46976 B",
    "conv/n2c16h14w14k32r3s3p1+bias/u8 3625216 FLOP 61184 B",
    "conv/n2g4c16h15w15k16r3s3u2p1_0e2+bias/f32 84096 FLOP 13248 B",
    "conv/n2g4c16h15w15k16r3s3u2p1_0e2/f32 82944 FLOP 35712 B",
    "conv/n2g4c16h15w15k16r3s3u2p1_0e2+bias/f32 84096 FLOP 13248 B",
    "conv/c8w30k8s3/f32 10752 FLOP 2624 B",
    "conv/c8d4h6w8k8t1r3s3p0x1x1/f32 221184 FLOP 14592 B",
    "conv/c16h7w7k8r4s4u2p1+transposed/f32 200704 FLOP 17600 B",
    "gemm/m8n10k144+tb+bias/f32 23120 FLOP 10728 B",
    "gemm/m64n48k32/f32 196608 FLOP 26624 B",
    "gemm/b6m8n4k16+tb+bias/f32 6336 FLOP 5392 B",
    "gemm/b5wb1m8n4k16/f32 5120 FLOP 3456 B",  // 5 sources, one matrix of weights
    "gemm/m64n48k32/u8 196608 FLOP 15872 B",
    "gemm/m64n48k32/bf16 196608 FLOP 19456 B",  // result in f32
    "gemm/m64n48k32/f32 196608 FLOP 26624 B",   // a source with strides
    "pointwise/add-4x16x8x8-1x16x1x1/f32 4096 FLOP 32832 B",
    "pool/max-n2c16h13w13r3u2/f32 9216 FLOP 26240 B",
    "pool/max-n2c16h13w13r3u2/f32 1152 FLOP 26240 B",
    "pool/avg_exclude_pad-n2c16h13w13r3u2/f32 10368 FLOP 26240 B",
    "pool/avg_exclude_pad-n2c16h13w13r3u2/f32 11520 FLOP 26240 B",
    "pointwise/relu-2x16x8x8/f32 2048 FLOP 16384 B",
    "pointwise/relu-2x16x8x8/f32 2048 FLOP 24576 B",
    "pointwise/leaky_relu-2x16x8x8/f32 4096 FLOP 16384 B",
    "pointwise/leaky_relu-2x16x8x8/f32 4096 FLOP 24576 B",
    "eltwise//f32 2048 FLOP 16384 B",  // eltwise_linear: one FLOP per element
    "n/a",
    "pointwise/sigmoid-2x16x8x8/f32 4096 FLOP 16384 B",
    "pointwise/sigmoid-2x16x8x8/f32 10240 FLOP 24576 B",
    "softmax/16x100/f32 6400 FLOP 12800 B",
    "batch_norm/n2c16h8w8/f32 8192 FLOP 16640 B",
    "batch_norm/training-n2c16h8w8+noscale+noshift/f32 12288 FLOP 16512 B",
    "lrn/2x16x8x8/f32 26624 FLOP 16384 B",  // 13 per element: 5 neighbours
    "reorder/2x32x8x8-nchw-nhwc/f32 0 FLOP 32768 B",
    "reorder/2x32x8x8-nhwc-blocked16/f32 0 FLOP 32768 B",
    "reorder/2x32x8x8-nchw-nhwc-bf16/f32 0 FLOP 24576 B",
    "reorder/2x16x16x3x3-p0x3x4x2x1/f32 0 FLOP 36864 B",  // 32x16x3x3 to ABcd16b16a
    "reorder/64x48-p1x0/f32 0 FLOP 24576 B",
};

TEST(VerboseWork, AConvolutionOfVersion1Point1Point2) {
  const Activity activity = activity_of(
      "dnnl_verbose,exec,cpu,convolution,jit:avx512_common,forward_inference,"
      "src_f32::blocked:aBcd16b:f0 wei_f32::blocked:ABcd16b16a:f0 bia_undef::undef::f0 "
      "dst_f32::blocked:aBcd16b:f0,,alg:convolution_direct,"
      "mb32_ic32oc32_ih256oh256kh3sh1dh0ph1_iw256ow256kw3sw1dw0pw1,20.7539");
  const auto work = compute_work(activity);
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->op, "conv");
  EXPECT_EQ(work->parameters, "n32c32h256w256k32r3s3p1");
  EXPECT_EQ(work->dtype, "f32");
  EXPECT_EQ(work->in_shapes, "32x32x256x256 32x32x3x3");
  EXPECT_EQ(work->out_shapes, "32x32x256x256");
  EXPECT_EQ(work->macs, 19'327'352'832);
  EXPECT_EQ(work->flops, 38'654'705'664);
  const double seconds = std::chrono::duration<double>(*activity.duration).count();
  EXPECT_NEAR(static_cast<double>(work->flops) / seconds, 1.8625e12, 0.0001e12);
}

TEST(VerboseWork, EveryExecutionOfTheNewestLog) {
  const auto works = works_of_log("onednn_3.13_timestamps.log");
  ASSERT_EQ(works.size(), kProgram.size());
  for (std::size_t i = 0; i < works.size(); ++i) EXPECT_EQ(works[i], kProgram[i]) << i;
}

TEST(VerboseWork, EqualForTheSameProgramInAllFormats) {
  for (const char* name : {"onednn_3.0.log", "onednn_3.2_timestamps.log",
                           "onednn_3.3_timestamps.log", "onednn_3.5.log", "onednn_3.6.log"}) {
    EXPECT_THAT(works_of_log(name), ElementsAreArray(kProgram)) << name;
  }
  std::vector<std::string> without_training = kProgram;
  without_training.erase(without_training.begin() + 36);
  for (const char* name : {"onednn_2.4.log", "onednn_2.6_timestamps.log"}) {
    EXPECT_THAT(works_of_log(name), ElementsAreArray(without_training)) << name;
  }
  // Until 2.2 a log contains only the product of the batch dimensions (b6), so it does not show
  // whether an operand is broadcast over the batch.
  without_training[16] = without_training[17] = "n/a";
  EXPECT_THAT(works_of_log("onednn_2.0.log"), ElementsAreArray(without_training));
}

// 1.0 had no matmul, no binary and fewer post-ops. It flattens the input of an inner product.
TEST(VerboseWork, OfVersion1Point0) {
  std::vector<std::string> program;
  for (std::size_t i = 0; i < kProgram.size(); ++i) {
    const bool missing = i == 2 || i == 3 || i == 4 || i == 5 || i == 36 || (i >= 15 && i <= 21);
    constexpr std::size_t kLrn = 37;  // its line does not contain the number of neighbours
    if (!missing) program.push_back(i == kLrn ? "n/a" : kProgram[i]);
  }
  const std::vector<std::string> works = works_of_log("onednn_1.0.log");
  EXPECT_EQ(works.size(), 33U);
  auto next = works.begin();
  for (const std::string& expected : program) {
    next = std::find(next, works.end(), expected);
    ASSERT_NE(next, works.end()) << expected;
    ++next;  // each row needs a line of its own
  }
}

TEST(VerboseWork, DataTypesAreThoseOfTheDescriptors) {
  const std::string problem = ",,,64x32:32x48";
  EXPECT_EQ(work_of_execution("matmul,x,undef,src_f16::blocked:ab:f0 wei_f16::blocked:ab:f0 "
                              "dst_f16::blocked:ab:f0" +
                              problem),
            "gemm/m64n48k32/f16 196608 FLOP 13312 B");
  EXPECT_EQ(work_of_execution("matmul,x,undef,src_s8::blocked:ab:f0 wei_s8::blocked:ab:f0 "
                              "dst_s8::blocked:ab:f0,attr-scales:src0:0:f32," +
                              problem.substr(2)),
            "gemm/m64n48k32/s8 196608 FLOP 6656 B");
  EXPECT_EQ(work_of_execution("matmul,x,undef,src_f16::blocked:ab:f0 wei_s4::blocked:ab:f0 "
                              "dst_f16::blocked:ab:f0" +
                              problem),
            "gemm/m64n48k32/f16 196608 FLOP 11008 B");
  // The bytes of an unknown type are unknown; the FLOPs are not.
  EXPECT_EQ(work_of_execution("matmul,x,undef,src_f16::blocked:ab:f0 wei_x9::blocked:ab:f0 "
                              "dst_f16::blocked:ab:f0" +
                              problem),
            "gemm/m64n48k32/f16 196608 FLOP -1 B");
  EXPECT_EQ(work_of_execution("binary,x,undef,src_s32::blocked:ab:f0 src_f32::blocked:ab:f0 "
                              "dst_s8::blocked:ab:f0,,alg:binary_mul,8x8:8x8"),
            "pointwise/mul-8x8-8x8/s32 64 FLOP 576 B");
}

TEST(VerboseWork, Products) {
  const std::string mds = "src_f32::blocked:ab:f0 wei_f32::blocked:ba:f0 ";
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,4x8:8x2"),
            "gemm/m4n2k8+tb/f32 128 FLOP 224 B");
  EXPECT_EQ(work_of_execution("matmul,x,undef,src_f32::blocked:ba:f0 wei_f32::blocked:ab:f0 "
                              "dst_f32::blocked:ab:f0,attr-post-ops:binary_add:bf16:3,,4x8:8x2"),
            "gemm/m4n2k8+ta+add/f32 136 FLOP 240 B");
  // A bias per row, weights that products share which do not follow each other, sizes set at run
  // time, sizes that do not fit.
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds +
                              "bia_f32::blocked:ab:f0_mask1 dst_f32::blocked:ab:f0,,,4x8:8x2"),
            "n/a");
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,2x3x4x8:1x3x8x2"),
            "n/a");
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,1x4x8:5x8x2"),
            "gemm/b5sb1m4n2k8+tb/f32 640 FLOP 608 B");
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,2x3x4x8:2x1x8x2"),
            "gemm/b6wb2m4n2k8+tb/f32 768 FLOP 1088 B");
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,*x8:8x2"), "n/a");
  EXPECT_EQ(work_of_execution("matmul,x,undef," + mds + "dst_f32::blocked:ab:f0,,,4x8:7x2"), "n/a");
  EXPECT_EQ(work_of_execution("gemm_api,,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 "
                              "dst_f32::blocked:ab:f0,,,4x8:8x2"),
            "gemm/m4n2k8/f32 128 FLOP 224 B");
  EXPECT_EQ(
      work_of_execution("inner_product,x,backward_bias,src_f32::blocked:ab:f0 "
                        "wei_f32::blocked:ab:f0 bia_undef::undef::f0 dst_f32::blocked:ab:f0,,,"
                        "mb8ic16oc10"),
      "n/a");
}

TEST(VerboseWork, WhatIsNotUnderstoodIsNotGuessed) {
  const std::string conv =
      "src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 "
      "bia_undef::undef::f0 dst_f32::blocked:abcd:f0,";
  const std::string axes = "_ih4oh4kh1sh1dh0ph0_iw4ow4kw1sw1dw0pw0";
  ASSERT_NE(work_of_execution("convolution,x,forward_training," + conv + ",a,mb1_ic1oc1" + axes),
            "n/a");
  for (const std::string& fields :
       {"convolution,x,backward_bias," + conv + ",a,mb1_ic1oc1" + axes,
        "convolution,x,forward_training," + conv + ",a,mb1_ic1" + axes,
        "convolution,x,forward_training," + conv + ",a,g3mb1_ic1oc1" + axes,
        "convolution,x,forward_training," + conv +
            ",a,mb1_ic1oc1_ih4oh2kh1sh1dh0ph0_iw4ow4kw1sw1dw0pw0",
        "convolution,x,forward_training,#,,a,mb1_ic1oc1" + axes,
        std::string("pooling,x,forward_training,src_f32::blocked:abcd:f0 dst_f32::blocked:abcd:f0,,"
                    "alg:pooling_max,mb1ic1_ih9oh5kh3sh1dh1ph0_iw9ow5kw3sw1dw1pw0"),
        std::string("batch_normalization,x,forward_inference,data_f32::blocked:abcd:f0,,"
                    "flags:GCHA,mb2ic16ih8iw8"),
        std::string("batch_normalization,x,forward_training,data_f32::blocked:abcd:f0,,,"
                    "mb2ic16ih8iw8"),
        std::string("batch_normalization,x,forward_training,data_f32::blocked:abcd:f0,,flags:8,"
                    "mb2ic16ih8iw8"),
        std::string("softmax,x,backward_data,dst_f32::blocked:ab:f0 diff_dst_f32::blocked:ab:f0,,"
                    "alg:softmax_sparse axis:1,16x100"),
        std::string("softmax,x,forward_inference,src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,"
                    "alg:softmax_accurate axis:2,16x100"),
        std::string("eltwise,x,backward_data,data_f32::blocked:ab:f0 diff_f32::blocked:ab:f0,,"
                    "alg:eltwise_tanh_use_dst_for_bwd alpha:0 beta:0,16x100"),
        std::string("reorder,x,undef,src_f32::blocked:abcd:f0 dst_s8::blocked:ABcd4b16a4b:f1:s8m1,"
                    ",,32x16x3x3"),
        std::string("matmul,x,undef,src_f32::sparse:csr::f0 wei_f32::blocked:ab::f0 "
                    "dst_f32::blocked:ab::f0,,,64x128:128x32"),
        std::string("prelu,x,backward,data_f32::blocked:ab:f0,,,2x16:2x1"),
        std::string("concat,x,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,axis:2,4x4:4x4"),
        std::string("rnn,x,backward,src_layer_f32::blocked:abc::f0,,alg:vanilla_lstm,"
                    "l1t7mb3sic16slc16dhc16dic16"),
        std::string("sdpa,x,undef,query_f32::blocked:abcd:f0,,,1x1x4x8:1x1x9x4:1x1x4x8")}) {
    EXPECT_EQ(work_of_execution(fields), "n/a") << fields;
  }
}

// Primitives as oneDNN 3.2 logs them, some of them without an operator; counted manually.
TEST(VerboseWork, OtherPrimitivesHaveTheWorkOfTheirFormulas) {
  const std::vector<std::string> expected = {
      "concat/2x10x4x5-a1s3x7/f32 0 FLOP 3200 B",  // 2*3*4*5 and 2*7*4*5 elements, read and written
      "sum//f32 240 FLOP 1920 B",                  // 3 sources of 120 elements: 2 additions each
      "prelu/2x16x8x8/f32 4096 FLOP 16448 B",      // 2 per element of 2*16*8*8; 16 weights
      "shuffle/2x16x8x8-g4/f32 0 FLOP 16384 B",    //
      "resample/nearest-2x16x8x8-o16x16/f32 0 FLOP 40960 B",  // nearest: 2048 elements become 8192
      "resample/linear-2x16x8x8-o16x16/f32 57344 FLOP 40960 B",  // linear: 4 products and 3
                                                                 // additions each
      // mean of 64 elements: 63 additions, 1 quotient
      "reduction/mean-2x16x8x8-a2x3/f32 2048 FLOP 8320 B",
      "reduction/sum-2x16x8x8-a2x3/f32 2016 FLOP 8320 B",
      "reduction/max-2x16x8x8-a2x3/f32 2016 FLOP 8320 B",
      "reduction/l2-2x16x8x8-a2x3/f32 4064 FLOP 8320 B",  // norm_lp_sum: 64 squares more
      // 21 cells (7 steps, batch 3) of 4 gates and 16 elements: 2*21*4*16*(16+16) for the products,
      // 21*4*16 for the bias, 4*21*16 for the states
      // the line leaves out the states c, 2*3*16 elements
      "lstm/t7n3i16+state/f32 88704 FLOP 11904 B",
      "gru/before-t7n3i16+state/f32 67200 FLOP 9408 B",  // 3 gates, 5 per element of the state
      "rnn/t7n3i16+bidirectional+state/f32 43680 FLOP 9024 B",
      "lrn/2x16x8x8/f32 26624 FLOP 16384 B",                  // 5 neighbours: 10 + 3 per element
      "lrn/within_channel-2x16x8x8/f32 108544 FLOP 16384 B",  // 25 neighbours: 50 + 3
      // 2*4*32*8*16 and 2048 results for each of 4 post-ops; the addend of `sum` and twice 16
      // elements are read as well
      "gemm//f32 40960 FLOP 21120 B",
      // 2*16*96*112*112, bias and relu 96*112*112 each; depthwise 2*9*96*56*56, bias 96*56*56
      "conv//f32 46663680 FLOP 2017408 B",
      "n/a",  // a sparse matrix: how many elements exist is unknown
  };
  EXPECT_THAT(works_of_log("onednn_3.2_other_primitives.log"), ElementsAreArray(expected));
}

// Earlier, each of these post-ops erased the work of the product.
TEST(VerboseWork, APostOpThatAProblemCannotHaveDoesNotEraseTheProduct) {
  const std::string product =
      "matmul,x,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,";
  // 2*4*8*2 = 128 for the product, and 8 results of 32 bytes
  EXPECT_EQ(work_of_execution(product + "attr-post-ops:eltwise_linear:2:1,,4x8:8x2"),
            "gemm//f32 136 FLOP 224 B");
  EXPECT_EQ(work_of_execution(product + "attr-post-ops:sum:0.5,,4x8:8x2"),
            "gemm//f32 136 FLOP 256 B");
  EXPECT_EQ(work_of_execution(product + "attr-post-ops:binary_mul:bf16:2,,4x8:8x2"),
            "gemm//f32 136 FLOP 228 B");
  EXPECT_EQ(work_of_execution(product + "attr-post-ops:sum+binary_add:x9:0,,4x8:8x2"),
            "gemm//f32 144 FLOP -1 B");
  EXPECT_EQ(work_of_execution(product + "lda:8 attr-post-ops:eltwise_relu,,4x8:8x2"),
            "gemm/m4n2k8+relu/f32 136 FLOP 224 B");
  EXPECT_EQ(work_of_execution("pooling,x,forward_training,src_f32::blocked:abcd:f0 "
                              "dst_f32::blocked:abcd:f0,attr-post-ops:eltwise_relu,alg:pooling_max,"
                              "mb1ic1_ih4oh4kh1sh1dh0ph0_iw4ow4kw1sw1dw0pw0"),
            "pool//f32 16 FLOP 128 B");
}

// Each line of a program that trains with oneDNN 3.2, counted manually; docs/work_model.md contains
// the formulas.
TEST(VerboseWork, GradientsAndTrainingHaveWork) {
  const std::vector<std::string> expected = {
      "gemm/m8n10k144+tb/f32 23040 FLOP 10688 B",       // gradient of the source
      "gemm/m8n10k144+tb+bias/f32 23120 FLOP 10728 B",  // of weights and bias
      "gemm/m8n10k144+tb/f32 23040 FLOP 10688 B",       // of weights
      "softmax/16x100/f32 6400 FLOP 12800 B",
      "softmax/16x100/f32 6400 FLOP 19200 B",      // backward
      "softmax/16x100+log/f32 6400 FLOP 12800 B",  // logarithm
      "softmax/16x100+log/f32 4800 FLOP 19200 B",  // backward
      // 2048 elements, 16 channels; then backward_data
      "batch_norm/training-n2c16h8w8+noscale+noshift/f32 12288 FLOP 16512 B",
      "batch_norm/training-n2c16h8w8+noscale+noshift/f32 18432 FLOP 24704 B",
      // CH: scale and shift; backward, backward_data
      "batch_norm/training-n2c16h8w8/f32 16384 FLOP 16640 B",
      "batch_norm/training-n2c16h8w8/f32 20480 FLOP 24896 B",
      "batch_norm/training-n2c16h8w8/f32 20480 FLOP 24768 B",
      "batch_norm//f32 18432 FLOP 16640 B",  // CHR: and a relu
      "batch_norm//f32 22528 FLOP 24896 B",  // backward
      "batch_norm//f32 22528 FLOP 24768 B",  // backward_data
      // GC: given statistics, scale; backward, backward_data
      "batch_norm/n2c16h8w8+noshift/f32 6144 FLOP 16576 B",
      "batch_norm/n2c16h8w8+noshift/f32 12288 FLOP 24832 B",
      "batch_norm/n2c16h8w8+noshift/f32 4096 FLOP 16512 B",
  };
  EXPECT_THAT(works_of_log("onednn_3.2_training.log"), ElementsAreArray(expected));
}

// The flags of 2.x name scale and shift together; those of 1.x are a number.
TEST(VerboseWork, TrainingOfOlderFormats) {
  for (const char* flags : {"S", "CH", "2"}) {
    EXPECT_EQ(
        work_of_execution(std::string("batch_normalization,x,backward,data_f32::blocked:abcd:f0 "
                                      "diff_f32::blocked:abcd:f0,,flags:") +
                          flags + ",mb2ic16ih8iw8"),
        "batch_norm/training-n2c16h8w8/f32 20480 FLOP 24896 B")
        << flags;
  }
  EXPECT_EQ(work_of_execution("softmax_v2,x,backward_data,dst_bf16::blocked:ab:f0 "
                              "diff_dst_bf16::blocked:ab:f0 diff_src_bf16::blocked:ab:f0,,"
                              "alg:softmax_accurate axis:1,16x100"),
            "softmax/16x100/bf16 6400 FLOP 9600 B");
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  EXPECT_EQ(work_of_execution(fmt::format("softmax,x,backward_data,src_s8::blocked:a:f0 "
                                          "dst_s8::blocked:a:f0,,alg:softmax_log axis:0,{}",
                                          kHuge)),
            "n/a");
}

TEST(VerboseWork, GradientsHaveShapesAndParameters) {
  const auto work =
      compute_work(activity_of("onednn_verbose,exec,cpu,batch_normalization,x,backward,"
                               "data_f32::blocked:abcd::f0 diff_f32::blocked:abcd::f0,,flags:CH,"
                               "mb2ic16ih8iw8,1"));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->parameters, "training-n2c16h8w8");
  EXPECT_EQ(work->in_shapes, "2x16x8x8 2x16x8x8 16 16 16");
  EXPECT_EQ(work->out_shapes, "2x16x8x8 16 16");
}

// Statistics of the batch that are not written: training without two results.
TEST(VerboseWork, InferenceWithStatisticsOfTheBatchHasShapesButNoParameters) {
  const auto work =
      compute_work(activity_of("onednn_verbose,exec,cpu,batch_normalization,x,forward_inference,"
                               "data_f32::blocked:abcd::f0,,flags:CH,mb2ic16ih8iw8,1"));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->parameters, "");
  EXPECT_EQ(work->flops, 16384);
  EXPECT_EQ(work->bytes, 16512);
  EXPECT_EQ(work->out_shapes, "2x16x8x8");
}

TEST(VerboseWork, CreationsAndOtherPhasesComputeNothing) {
  const std::string tail =
      ",cpu,reorder,x,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ba:f0,,,4x8,1";
  EXPECT_TRUE(compute_work(activity_of("onednn_verbose,exec" + tail)).has_value());
  EXPECT_FALSE(compute_work(activity_of("onednn_verbose,create:cache_hit" + tail)).has_value());
  EXPECT_FALSE(compute_work(activity_of("onednn_verbose,exec:external" + tail)).has_value());
  EXPECT_FALSE(make_work_provider()(activity_of("onednn_verbose,create" + tail)).has_value());
  EXPECT_FALSE(compute_work(Activity()).has_value());
}

TEST(VerboseWork, EachOperatorOfTheLibraryHasOneMapping) {
  std::vector<std::string> names;
  for (const VerboseMapping* mapping : verbose_mappings()) names.emplace_back(mapping->op);
  std::vector<std::string> operators = operators_on("onednn");
  std::erase(operators, "grouped_gemm");  // oneDNN executes it as products, which gemm describes
  std::erase(operators, "lstm");          // the primitive rnn, whose mapping is that of rnn
  std::erase(operators, "gru");
  EXPECT_THAT(names, ElementsAreArray(operators));
}

}  // namespace
}  // namespace bench::ops
