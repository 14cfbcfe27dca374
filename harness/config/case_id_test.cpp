// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_id.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(CaseId, CanonicalIdsComeBackUnchanged) {
  for (const std::string id : {
           "conv/forward/n32c64h56w56k64r3s3p1/f32/onednn/cpu/hot",
           "conv/backward_weights/g32c32h14w14k32r3s3u2p0_1/bf16/onednn/cpu/cold_weights",
           "conv/forward/c64h56w56k64r3s3p1+bias+add+relu/f32/onednn/cpu/hot",
           "gemm/forward/b12m128n64k128+ta+tb/f32/cublaslt/cuda/cold/nhwc/tf32",
           "gemm/forward/m64n64k64+tb/f8_e4m3/cublaslt/cuda/hot/fast_accumulation",
           "softmax/forward/2x1000-a0/f32/onednn/cpu/hot/t4",
           "network/forward/resnet50_v1_5/f32/onednn/cpu/hot",
           "network/forward/vgg16-n8+separate+training/f32/onednn/cpu/cold/t1",
       }) {
    const auto key = parse_id(id);
    ASSERT_TRUE(key.ok()) << key.error().message();
    EXPECT_EQ(to_id(*key), id);
    EXPECT_TRUE(looks_like_id(id));
  }
}

TEST(CaseId, OtherSpellingsAreMadeCanonical) {
  const struct {
    std::string id, canonical;
  } rows[] = {
      {"conv/forward/n1c8h8k8r3u1p0/f32/onednn/cpu/hot",
       "conv/forward/c8h8w8k8r3s3/f32/onednn/cpu/hot"},
      {"inner_product/forward/m1n2k3/f32/onednn/cpu/hot", "gemm/forward/m1n2k3/f32/onednn/cpu/hot"},
      {"gemm/forward/m1n2k3/f32/onednn/cpu/hot/tf32/nhwc/t2",
       "gemm/forward/m1n2k3/f32/onednn/cpu/hot/t2/nhwc/tf32"},
      {"softmax/forward/2x1000-a1/f32/onednn/cpu/hot", "softmax/forward/2x1000/f32/onednn/cpu/hot"},
      {"network/forward/a-n1/f32/onednn/cpu/hot", "network/forward/a/f32/onednn/cpu/hot"},
  };
  for (const auto& row : rows) {
    const auto key = parse_id(row.id);
    ASSERT_TRUE(key.ok()) << key.error().message();
    EXPECT_EQ(to_id(*key), row.canonical);
  }
}

TEST(CaseId, MistakesNameTheSegmentAndTheNearestName) {
  const struct {
    std::string id, message;
  } rows[] = {
      {"conf/forward/c1/f32/onednn/cpu/hot", "unknown operator `conf`; did you mean `conv`?"},
      {"gemm/foward/m1n1k1/f32/onednn/cpu/hot",
       "unknown direction `foward`; did you mean `forward`?"},
      {"gemm/forward/m1n1k1/f23/onednn/cpu/hot", "unknown data type `f23`; did you mean `f32`?"},
      {"gemm/forward/m1n1k1/f32/onedn/cpu/hot", "unknown backend `onedn`; did you mean `onednn`?"},
      {"gemm/forward/m1n1k1/f32/onednn/cuda/hot",
       "backend `onednn` does not run on device `cuda`; its device is cpu"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/warm", "unknown cache mode `warm`; did you mean `hot`?"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/t1/t1",
       "options `t1` and `t1` both set the threads; give one of them"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/t2/nhwc/t1",
       "options `t2` and `t1` both set the threads; give one of them"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/nhwc/nchw",
       "options `nhwc` and `nchw` both set the layout; give one of them"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/tf32/tf32",
       "options `tf32` and `tf32` both set the math; give one of them"},
      {"gemm/forward/m1n1k1/f8_e4m3/cublaslt/cuda/hot/tf32/fast_accumulation",
       "options `tf32` and `fast_accumulation` both set the math; give one of them"},
      {"gemm/forward/m1n1k1/f16/cublaslt/cuda/hot/fast_accumulation",
       "`fast_accumulation` applies only to products of fp8, not of f16; set `math: "
       "fast_accumulation` only in entries of gemm with dtype f8_e4m3"},
      {"network/forward/a/f8_e4m3/cudnn/cuda/hot/fast_accumulation",
       "`fast_accumulation` is for single products, not for networks; leave it out"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/t0", "unknown option `t0`; did you mean `t1`?"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/st0", "unknown option `st0`; did you mean `st2`?"},
      {"gemm/forward/m1n1k1/f32/onednn/cpu/hot/st2/st4",
       "options `st2` and `st4` both set the streams; give one of them"},
      {"gemm/forward/m1n1k1/f32",
       "4 segments, expected at least 7; an id is "
       "op/direction/parameters/dtype/backend/device/cache[/option...]"},
      {"network/forward/a-8/f32/onednn/cpu/hot",
       "a batch is written `n` and a number >= 1, found `8`; write NAME-n8"},
      {"network/forward/a+seperate/f32/onednn/cpu/hot",
       "unknown flag `seperate` of a network; did you mean `separate`?"},
      {"network/forward/a/f32/onednn/cpu/cold_weights",
       "cache mode `cold_weights` is for layers, not for a whole network; use hot or cold: a "
       "network streams its weights anyway"},
      {"network/backward_data/a/f32/onednn/cpu/hot",
       "a network's direction is forward; training is its flag `+training`"},
  };
  for (const auto& row : rows) {
    const auto key = parse_id(row.id);
    ASSERT_FALSE(key.ok()) << row.id;
    EXPECT_EQ(key.error().message(), "case id " + row.id + ": " + row.message);
  }
}

TEST(CaseId, WrongParametersAreRefused) {
  for (const std::string parameters : {"", "c8", "m1n1", "m0n1k1", "m1n1k1z3", "m1n1k1+foo",
                                       "m99999999999999999999n1k1", "m1n1k1m1", "%s"}) {
    const std::string id = "gemm/forward/" + parameters + "/f32/onednn/cpu/hot";
    EXPECT_FALSE(parse_id(id).ok()) << id;
  }
}

TEST(CaseId, StreamsFollowTheThreads) {
  const std::string id = "gemm/forward/m1n1k1/f32/onednn/cpu/hot/t8/st2/tf32";
  const CaseKey key = *parse_id(id);
  EXPECT_EQ(key.threads, 8);
  EXPECT_EQ(key.streams, 2);
  EXPECT_EQ(to_id(key), id);
  EXPECT_EQ(worker_threads(key), (WorkerThreads{8, 2}));
  EXPECT_EQ(to_id(*parse_id("gemm/forward/m1n1k1/f32/onednn/cpu/hot/st1")),
            "gemm/forward/m1n1k1/f32/onednn/cpu/hot");
}

TEST(CaseId, MoreStreamsThanThreadsAreRefused) {
  const std::string id = "gemm/forward/m1n1k1/f32/onednn/cpu/hot/";
  EXPECT_TRUE(parse_id(id + "st64").ok()) << "how many threads there are is not known here";
  EXPECT_EQ(parse_id(id + "t2/st4").error().message(),
            "case id " + id +
                "t2/st4: 4 streams need at least 4 threads, found 2; use `streams: 2` or fewer, or "
                "`threads: 4` or more");
}

TEST(CaseId, FileNamesDoNotLookLikeIds) {
  EXPECT_FALSE(looks_like_id("configs/resnet.yaml"));
  EXPECT_FALSE(looks_like_id("conv"));
  EXPECT_FALSE(looks_like_id(""));
  EXPECT_TRUE(looks_like_id("network/forward/x"));
}

}  // namespace
}  // namespace bench
