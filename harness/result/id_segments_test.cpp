// SPDX-License-Identifier: Apache-2.0
#include "harness/result/record.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(SplitId, AllSegments) {
  const IdSegments id = split_id("conv/forward/n1c64/f32/onednn/cpu/cold_weights/t1/nhwc");
  EXPECT_EQ(id.op, "conv");
  EXPECT_EQ(id.direction, "forward");
  EXPECT_EQ(id.parameters, "n1c64");
  EXPECT_EQ(id.dtype, "f32");
  EXPECT_EQ(id.backend, "onednn");
  EXPECT_EQ(id.device, "cpu");
  EXPECT_EQ(id.cache, "cold_weights");
  EXPECT_EQ(id.options, "t1/nhwc");
}

TEST(SplitId, MissingSegmentsAreEmpty) {
  const IdSegments id = split_id("conv/forward");
  EXPECT_EQ(id.direction, "forward");
  EXPECT_EQ(id.parameters, "");
  EXPECT_EQ(id.options, "");
  EXPECT_EQ(split_id("").op, "");
  EXPECT_EQ(split_id("///").dtype, "");
}

}  // namespace
}  // namespace bench
