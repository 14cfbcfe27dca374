// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_post_ops.hpp"

#include "ops/post_op.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace bench::ops {
namespace {

constexpr std::array<std::int64_t, 4> kDims = {2, 32, 14, 14};

// "add+relu", as in a case id; "n/a" if they are not understood.
std::string tokens(std::string_view attributes) {
  const auto post_ops = parse_post_ops(attributes, kDims);
  if (!post_ops) return "n/a";
  std::string text;
  for (const VerbosePostOp& post_op : *post_ops) {
    if (!text.empty()) text += '+';
    text += format_post_op(post_op.post_op);
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
  EXPECT_EQ(tokens("attr-post-ops:eltwise_tanh_use_dst_for_bwd"), "tanh");
}

TEST(VerbosePostOps, TensorsThatAreAdded) {
  EXPECT_EQ(tokens("attr-post-ops:binary_add:f32:15"), "add");
  EXPECT_EQ(tokens("attr-post-ops:binary_add:f32:15:abcd"), "add");
  const auto added = parse_post_ops("attr-post-ops:binary_add:bf16:15+sum", kDims);
  ASSERT_TRUE(added.has_value());
  EXPECT_EQ(added->at(0).dtype, DataType::bf16);
  EXPECT_EQ(added->at(1).dtype, std::nullopt);  // the destination's
  EXPECT_EQ(parse_post_ops("attr-post-ops:sum:1:0:u8", kDims)->at(0).dtype, DataType::u8);
}

TEST(VerbosePostOps, WhatAProblemHasNotIsNotGuessed) {
  for (const char* attributes :
       {"attr-post-ops:sum:0.5", "attr-post-ops:sum:1:3", "attr-post-ops:sum:1:0:s4",
        "attr-post-ops:binary_add:f32:2", "attr-post-ops:binary_mul:f32:15",
        "attr-post-ops:binary_add:f32", "attr-post-ops:binary_add:s4:15", "attr-post-ops:dw:k3s1p1",
        "attr-post-ops:prelu:2", "attr-post-ops:eltwise_relu:0:0:2", "attr-post-ops:eltwise_mish",
        "attr-post-ops:eltwise_hardswish:0.2:0.5", "attr-post-ops:eltwise_relu:x",
        "attr-dropout:undef:s32:0:0", "rnn_data_qparams:1:2;", "post_ops:'sum;", "anything"}) {
    EXPECT_EQ(tokens(attributes), "n/a") << attributes;
  }
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
