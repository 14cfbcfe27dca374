// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/verbose_activity.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

Activity decode_activity(std::string_view text) {
  VerboseDecoder decoder;
  Activity activity;
  EXPECT_TRUE(fill_activity(decoder.decode(text), activity)) << text;
  return activity;
}

TEST(VerboseActivity, AnExecution) {
  const Activity activity = decode_activity(
      "onednn_verbose,v1,primitive,exec,cpu,convolution,brg:avx512_core,forward_training,"
      "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Acdb32a::f0 bia:f32:a:blocked:a::f0 "
      "dst:f32:a:blocked:abcd:40x1x1x1:f0,attr-post-ops:eltwise_relu,alg:convolution_direct,"
      "mb2_ic16oc32,0.25");
  EXPECT_EQ(activity.kind, ActivityKind::primitive);
  EXPECT_EQ(activity.name, "convolution");
  EXPECT_EQ(activity.duration, Nanoseconds(250'000));
  EXPECT_EQ(activity.direction, "forward");
  EXPECT_EQ(activity.track.device, std::nullopt);
  const Attributes& attributes = activity.attributes;
  EXPECT_EQ(attributes.text(Attribute::primitive), "convolution");
  EXPECT_EQ(attributes.text(Attribute::phase), "exec");
  EXPECT_EQ(attributes.text(Attribute::implementation), "brg:avx512_core");
  EXPECT_EQ(attributes.text(Attribute::engine), "cpu");
  EXPECT_EQ(attributes.text(Attribute::propagation), "forward_training");
  EXPECT_EQ(attributes.text(Attribute::dtype), "f32");
  EXPECT_EQ(attributes.text(Attribute::layouts), "acdb Acdb32a -> abcd[40x1x1x1]");
  EXPECT_EQ(attributes.text(Attribute::primitive_attributes), "attr-post-ops:eltwise_relu");
  EXPECT_EQ(attributes.text(Attribute::auxiliary), "alg:convolution_direct");
  EXPECT_EQ(attributes.text(Attribute::problem), "mb2_ic16oc32");
  EXPECT_EQ(attributes.find(Attribute::cache), nullptr);
  EXPECT_EQ(attributes.find(Attribute::reason), nullptr);
}

TEST(VerboseActivity, BackwardPassesWriteGradients) {
  const std::string tail =
      ",src_f32::blocked:abcd:f0 wei_f32::blocked:Abcd16a:f0 "
      "bia_undef::undef::f0 dst_f32::blocked:acdb:f0,,,mb2,1";
  const std::string head = "dnnl_verbose,exec,cpu,convolution,ref,";
  const Activity data = decode_activity(head + "backward_data" + tail);
  EXPECT_EQ(data.direction, "backward_data");
  EXPECT_EQ(data.attributes.text(Attribute::layouts), "Abcd16a acdb -> abcd");
  const Activity weights = decode_activity(head + "backward_weights" + tail);
  EXPECT_EQ(weights.attributes.text(Attribute::layouts), "abcd acdb -> Abcd16a");
}

TEST(VerboseActivity, WhatHasNoTimeIsAMarker) {
  const Activity activity = decode_activity(
      "onednn_verbose,create:dispatch,brgemm_matmul,unsupported isa,src/cpu/x64/a.cpp:943");
  EXPECT_EQ(activity.kind, ActivityKind::marker);
  EXPECT_EQ(activity.name, "brgemm_matmul");
  EXPECT_EQ(activity.duration, std::nullopt);
  EXPECT_EQ(activity.attributes.text(Attribute::phase), "dispatch");
  EXPECT_EQ(activity.attributes.text(Attribute::reason), "unsupported isa");
  EXPECT_EQ(activity.attributes.text(Attribute::source_location), "src/cpu/x64/a.cpp:943");
}

TEST(VerboseActivity, Devices) {
  const std::string tail = ",reorder,ocl,undef,src_f32::blocked:ab:f0,,,2x2,1";
  EXPECT_EQ(decode_activity("onednn_verbose,exec,gpu:1" + tail).track.device, 1);
  EXPECT_EQ(decode_activity("onednn_verbose,exec,gpu" + tail).track.device, 0);
  EXPECT_EQ(decode_activity("onednn_verbose,exec,cpu2gpu" + tail).track.device, std::nullopt);
}

TEST(VerboseActivity, AReusedActivityKeepsNothingOfTheLineBefore) {
  VerboseDecoder decoder;
  Activity activity;
  activity.attributes.set(Attribute::backtrace, "main");
  const std::string create =
      "onednn_verbose,create:cache_hit,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,"
      "attr-scratchpad:user,x,2x2,1";
  ASSERT_TRUE(fill_activity(decoder.decode(create), activity));
  EXPECT_EQ(activity.attributes.text(Attribute::cache), "hit");
  const std::string check = "onednn_verbose,exec:check,primitive,unused,src/a.cpp:1";
  ASSERT_TRUE(fill_activity(decoder.decode(check), activity));
  EXPECT_EQ(activity.attributes.size(), 4U);  // backtrace, phase, reason, trace
  EXPECT_EQ(activity.duration, std::nullopt);
}

TEST(VerboseActivity, OfNoRecord) {
  VerboseDecoder decoder;
  Activity activity;
  for (const char* text : {"", "dnnl_verbose,info,cpu,isa:x", "dnnl_verbose,exec,cpu",
                           "onednn_verbose,v2,exec,cpu", "dnnl_verbose,exec,a,b,c,d,e,f,g,h,i"}) {
    EXPECT_FALSE(fill_activity(decoder.decode(text), activity)) << text;
  }
}

}  // namespace
}  // namespace bench
