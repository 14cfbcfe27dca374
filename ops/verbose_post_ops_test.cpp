// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_post_ops.hpp"

#include "ops/post_op.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace bench::ops {
namespace {

constexpr std::array<std::int64_t, 4> kDims = {2, 32, 14, 14};

// "add+relu", as in a case id; "other" for one that a problem cannot have.
std::string tokens(std::string_view attributes) {
  std::string text;
  for (const VerbosePostOp& post_op : parse_post_ops(attributes, kDims)) {
    if (!text.empty()) text += '+';
    text += post_op.post_op ? format_post_op(*post_op.post_op) : "other";
  }
  return text;
}

TEST(VerbosePostOps, OfAllFormats) {
  EXPECT_EQ(tokens(""), "");
  EXPECT_EQ(tokens("post_ops:'sum;eltwise_relu;';"), "add+relu");
  EXPECT_EQ(tokens("scratchpad_mode:user;oscale:0:0.5;post_ops:'eltwise_clip:0:6;';"), "clip");
  EXPECT_EQ(tokens("attr-post-ops:sum+eltwise_relu"), "add+relu");
  EXPECT_EQ(tokens("attr-scratchpad:user attr-post-ops:eltwise_relu"), "relu");
  EXPECT_EQ(tokens("attr-oscale:2 attr-zero-points:src:0:3 "), "");
  EXPECT_EQ(tokens("attr-scales:src0:0:f32+wei:1:f32 attr-fpmath:bf16"), "");
}

TEST(VerbosePostOps, FunctionsWithTheirCoefficients) {
  EXPECT_EQ(tokens("attr-post-ops:eltwise_relu:0.1"), "leaky_relu0.1");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_clip:-1:1e+06+sum"), "clip-1_1000000+add");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_bounded_relu:6"), "clip");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_swish:1"), "swish");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_gelu_erf:0.5"), "gelu_erf");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_hardswish:0.166667:0.5"), "hardswish");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_hardsigmoid:0.166667:0.5"), "hardsigmoid");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_tanh_use_dst_for_bwd"), "tanh");
  EXPECT_EQ(tokens("attr-post-ops:eltwise_clip_v2_use_dst_for_bwd:0:6"), "clip");
}

TEST(VerbosePostOps, TensorsThatAreAdded) {
  EXPECT_EQ(tokens("attr-post-ops:binary_add:f32:15"), "add");
  EXPECT_EQ(tokens("attr-post-ops:binary_add:f32:15:abcd"), "add");
  const auto added = parse_post_ops("attr-post-ops:binary_add:bf16:15+sum", kDims);
  ASSERT_EQ(added.size(), 2U);
  EXPECT_EQ(added[0].dtype, "bf16");
  EXPECT_EQ(added[1].dtype, "");  // the destination's
  EXPECT_EQ(parse_post_ops("attr-post-ops:sum:1:0:u8", kDims).at(0).dtype, "u8");
}

// Earlier, one of these erased the work of the whole primitive.
TEST(VerbosePostOps, WhatAProblemCannotHaveIsKnownByItsTensors) {
  struct OtherRow {
    const char* post_op;
    std::int64_t elements;
    std::string_view dtype;
  };
  for (const OtherRow& row : {OtherRow{"sum:0.5", 12544, ""},
                              {"sum:1:3", 12544, ""},
                              {"binary_add:f32:2", 32, "f32"},
                              {"binary_add:s8:0", 1, "s8"},
                              {"binary_mul:f32:15", 12544, "f32"},
                              {"binary_mul:u4:8:abcd", 14, "u4"},
                              {"binary_add:f32", 0, ""},
                              {"prelu:2", 32, "f32"},
                              {"prelu:15:bf16", 12544, "bf16"},
                              {"eltwise_relu:0:0:2", 0, ""},
                              {"eltwise_mish", 0, ""},
                              {"eltwise_linear:0.5:1", 0, ""},
                              {"eltwise_hardswish:0.2:0.5", 0, ""},
                              {"eltwise_hardsigmoid:0.2:0.5", 0, ""},
                              {"eltwise_relu:x", 0, ""},
                              {"anything", 0, ""}}) {
    const auto post_ops = parse_post_ops(std::string("attr-post-ops:") + row.post_op, kDims);
    ASSERT_EQ(post_ops.size(), 1U) << row.post_op;
    EXPECT_EQ(post_ops[0].post_op, std::nullopt) << row.post_op;
    EXPECT_EQ(post_ops[0].elements, row.elements) << row.post_op;
    EXPECT_EQ(post_ops[0].dtype, row.dtype) << row.post_op;
  }
  EXPECT_EQ(tokens("attr-post-ops:eltwise_relu+prelu:2+sum"), "relu+other+add");
  for (const char* depthwise : {"attr-post-ops:dw:k3s2p1", "attr-post-ops:dw_k3s2p1:f32"}) {
    const auto post_ops = parse_post_ops(depthwise, kDims);
    ASSERT_TRUE(post_ops.at(0).depthwise.has_value()) << depthwise;
    EXPECT_EQ(post_ops[0].depthwise->kernel, 3);
    EXPECT_EQ(post_ops[0].depthwise->stride, 2);
    EXPECT_EQ(post_ops[0].depthwise->pad, 1);
  }
}

TEST(VerbosePostOps, OtherAttributesAreNoWork) {
  for (const char* attributes : {"attr-dropout:undef:s32:0:0", "rnn_data_qparams:1:2;", "anything",
                                 "lda:600 ldb:520 ", "attr-scales:src:common:0.125"}) {
    EXPECT_EQ(tokens(attributes), "") << attributes;
  }
  EXPECT_EQ(tokens("post_ops:'sum;"), "add");
}

TEST(VerbosePostOps, FunctionsOfPointwise) {
  EXPECT_EQ(find_verbose_eltwise("eltwise_relu", 0, 0)->function, "relu");
  EXPECT_EQ(find_verbose_eltwise("eltwise_relu", 0.5, 0)->function, "leaky_relu");
  EXPECT_FALSE(find_verbose_eltwise("eltwise_linear", 2, 1).has_value());
  EXPECT_EQ(find_verbose_binary("binary_div"), "div");
  EXPECT_EQ(find_verbose_binary("binary_ge"), std::nullopt);
}

}  // namespace
}  // namespace bench::ops
