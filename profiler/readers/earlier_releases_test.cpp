// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/earlier_releases.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr std::int64_t kFlops = 7'604'273'152;

// As recorded on an H100: a row of the first layer of ResNet-50.
Activity row(ActivityKind kind, std::string_view name, std::string_view primitive) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  activity.scope = "resnet50_v1_5:conv1";
  activity.attributes.set(Attribute::op, "conv");
  activity.attributes.set(Attribute::parameters, "n32c3h224w224k64r7s7u2p3+bias+relu");
  activity.attributes.set(Attribute::dtype, "f16");
  if (!primitive.empty()) activity.attributes.set(Attribute::primitive, primitive);
  activity.attributes.set(Attribute::in_shapes, "32x3x224x224 64x3x7x7 64");
  activity.attributes.set(Attribute::flops, kFlops);
  activity.attributes.set(Attribute::bytes, std::int64_t{61'033'088});
  return activity;
}

TEST(EarlierReleasesTest, AReorderInANetworkHasNoWorkOfItsConvolution) {
  for (const Activity& recorded :
       {row(ActivityKind::operation, "conv1", "reorder"),
        row(ActivityKind::kernel, "bench::ops::cuda::(anonymous namespace)::transpose_kernel",
            "")}) {
    SCOPED_TRACE(recorded.name);
    const auto corrected = without_work_of_node(recorded);
    ASSERT_TRUE(corrected);
    EXPECT_EQ(corrected->attributes.text(Attribute::op), "reorder");
    EXPECT_EQ(corrected->attributes.integer(Attribute::flops), 0);
    EXPECT_EQ(corrected->attributes.integer(Attribute::bytes), std::nullopt);
    EXPECT_EQ(corrected->attributes.text(Attribute::parameters), "");
    EXPECT_EQ(corrected->attributes.text(Attribute::in_shapes), "");
    EXPECT_EQ(corrected->attributes.text(Attribute::dtype), "f16");
    EXPECT_EQ(corrected->scope, "resnet50_v1_5:conv1");
    EXPECT_FALSE(without_work_of_node(*corrected));
  }
}

TEST(EarlierReleasesTest, AnEpilogueHasNoWorkOfItsConvolution) {
  for (const Activity& recorded :
       {row(ActivityKind::operation, "conv1", "pointwise"),
        row(ActivityKind::operation, "conv1", "bias_gradient"),
        row(ActivityKind::kernel, "bench::ops::cuda::(anonymous namespace)::elementwise_kernel",
            "")}) {
    SCOPED_TRACE(recorded.name);
    const auto corrected = without_work_of_node(recorded);
    ASSERT_TRUE(corrected);
    EXPECT_EQ(corrected->name, recorded.name);
    EXPECT_EQ(corrected->attributes.text(Attribute::op), "conv");
    EXPECT_EQ(corrected->attributes.integer(Attribute::flops), 0);
    EXPECT_EQ(corrected->attributes.integer(Attribute::bytes), std::nullopt);
  }
}

TEST(EarlierReleasesTest, WorkThatIsRightStays) {
  EXPECT_FALSE(without_work_of_node(row(ActivityKind::operation, "conv1", "conv")));
  EXPECT_FALSE(without_work_of_node(row(ActivityKind::operation, "conv1", "convolution")));
  EXPECT_FALSE(without_work_of_node(row(ActivityKind::kernel, "sm90_xmma_fprop", "")));
  // oneDNN's own reorders come from its verbose output, with their own work.
  EXPECT_FALSE(without_work_of_node(row(ActivityKind::primitive, "reorder", "reorder")));
  Activity pointwise =
      row(ActivityKind::kernel, "bench::ops::cuda::(anonymous namespace)::elementwise_kernel", "");
  pointwise.attributes.set(Attribute::op, "pointwise");
  EXPECT_FALSE(without_work_of_node(pointwise));
}

}  // namespace
}  // namespace bench
