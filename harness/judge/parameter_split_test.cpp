// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/parameter_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace bench {
namespace {

constexpr const char* kConv = "conv/forward/c64h56w56k64r3s3p1+bias+relu/f32/onednn/cpu/hot";

std::string value_of(std::string_view id, std::string_view parameter) {
  const auto split = split_parameter(id, parameter);
  return split ? split->value : "no such parameter";
}

// Two ids differ in the parameter alone if their rests are equal.
bool is_pair(std::string_view a, std::string_view b, std::string_view parameter) {
  const auto left = split_parameter(a, parameter);
  const auto right = split_parameter(b, parameter);
  return left && right && left->rest == right->rest && left->value != right->value;
}

TEST(ParameterSplit, GivesTheValueOfEachKindOfParameter) {
  EXPECT_EQ(value_of(kConv, "dtype"), "f32");
  EXPECT_EQ(value_of(kConv, "cache"), "hot");
  EXPECT_EQ(value_of(kConv, "direction"), "forward");
  EXPECT_EQ(value_of(kConv, "backend"), "onednn");
  EXPECT_EQ(value_of(kConv, "device"), "cpu");
  EXPECT_EQ(value_of(kConv, "threads"), "all");
  EXPECT_EQ(value_of(kConv, "layout"), "any");
  EXPECT_EQ(value_of(kConv, "math"), "default");
  EXPECT_EQ(value_of(kConv, "n"), "1") << "a default is not part of the id";
  EXPECT_EQ(value_of(kConv, "k"), "64");
  EXPECT_EQ(value_of(kConv, "r"), "3");
  EXPECT_EQ(value_of(kConv, "pad"), "1");
  EXPECT_EQ(value_of(kConv, "bias"), "true");
  const std::string options = std::string(kConv) + "/t4/nhwc/tf32";
  EXPECT_EQ(value_of(options, "threads"), "4");
  EXPECT_EQ(value_of(options, "layout"), "nhwc");
  EXPECT_EQ(value_of(options, "math"), "tf32");
  const char* const network = "network/forward/resnet50_v1_5-n8+training/f32/onednn/cpu/hot";
  EXPECT_EQ(value_of(network, "batch"), "8");
  EXPECT_EQ(value_of(network, "mode"), "training");
}

TEST(ParameterSplit, CasesPairOnlyIfNothingElseDiffers) {
  const std::string bf16 = "conv/forward/c64h56w56k64r3s3p1+bias+relu/bf16/onednn/cpu/hot";
  EXPECT_TRUE(is_pair(kConv, bf16, "dtype"));
  EXPECT_FALSE(is_pair(kConv, bf16, "cache")) << "the data type differs";
  EXPECT_FALSE(is_pair(kConv, kConv, "dtype")) << "the same case";
  const std::string cold = "conv/forward/c64h56w56k64r3s3p1+bias+relu/bf16/onednn/cpu/cold";
  EXPECT_FALSE(is_pair(kConv, cold, "dtype"));
  EXPECT_TRUE(is_pair(bf16, cold, "cache"));
  EXPECT_TRUE(is_pair(kConv, std::string(kConv) + "/t2", "threads"));
  EXPECT_TRUE(is_pair(std::string(kConv) + "/t8", std::string(kConv) + "/t8/st2", "streams"));
  EXPECT_EQ(value_of(std::string(kConv) + "/t8/st12", "streams"), "12");
  EXPECT_EQ(value_of(std::string(kConv) + "/t8/st12", "threads"), "8");
  EXPECT_EQ(value_of(kConv, "streams"), "1");
  EXPECT_TRUE(is_pair(std::string(kConv) + "/t1/nhwc", std::string(kConv) + "/t2/nhwc", "threads"));
  EXPECT_FALSE(is_pair(std::string(kConv) + "/t1/nhwc", std::string(kConv) + "/t2", "threads"));
  EXPECT_TRUE(
      is_pair(kConv, "conv/forward/n8c64h56w56k64r3s3p1+bias+relu/f32/onednn/cpu/hot", "n"));
  EXPECT_TRUE(is_pair(kConv, "conv/forward/c64h56w56k64r3s3p1+relu/f32/onednn/cpu/hot", "bias"));
  EXPECT_FALSE(is_pair(kConv, "conv/forward/n8c64h56w56k64r3s3p1+bias/f32/onednn/cpu/hot", "n"))
      << "a post-op differs";
}

TEST(ParameterSplit, ABackendDecidesItsDevice) {
  const char* const cpu = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
  const char* const gpu = "gemm/forward/m8n8k8/f32/cublaslt/cuda/hot";
  EXPECT_TRUE(is_pair(cpu, gpu, "backend"));
  EXPECT_TRUE(is_pair(cpu, gpu, "device"));
  EXPECT_FALSE(is_pair(cpu, gpu, "dtype"));
}

// A sweep over the height of square images changes the width, too.
TEST(ParameterSplit, ASizeThatRepeatsTheParameterGoesWithIt) {
  const char* const small = "conv/forward/c8h14w14k8r3s3/f32/onednn/cpu/hot";
  const char* const large = "conv/forward/c8h28w28k8r3s3/f32/onednn/cpu/hot";
  EXPECT_TRUE(is_pair(small, large, "h"));
  EXPECT_FALSE(is_pair(small, large, "w"));
  EXPECT_FALSE(is_pair(small, "conv/forward/c8h28w14k8r3s3/f32/onednn/cpu/hot", "c"));
}

TEST(ParameterSplit, UnknownParametersAndOtherNamesHaveNone) {
  EXPECT_FALSE(split_parameter(kConv, "batch"));
  EXPECT_FALSE(split_parameter(kConv, "colour"));
  EXPECT_FALSE(split_parameter("BM_x/8", "n"));
  EXPECT_FALSE(split_parameter("unknown_op/forward/x8/f32/onednn/cpu/hot", "n"));
  EXPECT_EQ(value_of("unknown_op/forward/x8/f32/onednn/cpu/hot", "dtype"), "f32");
  EXPECT_THAT(list_parameters("BM_x/8"), testing::IsEmpty());
  EXPECT_THAT(list_parameters(kConv), testing::IsSupersetOf({"dtype", "threads", "n", "bias"}));
}

TEST(ParameterSplit, SizesMayChangeTheWork) {
  for (const char* name : {"n", "m", "batch", "direction"}) EXPECT_TRUE(changes_work(name)) << name;
  for (const char* name : {"dtype", "cache", "threads", "math"}) {
    EXPECT_FALSE(changes_work(name)) << name;
  }
}

}  // namespace
}  // namespace bench
