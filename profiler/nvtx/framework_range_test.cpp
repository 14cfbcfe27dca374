// SPDX-License-Identifier: Apache-2.0
// Texts as written by PyTorch 2.15, 1.8 and 1.2.
#include "profiler/nvtx/framework_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Origin = FrameworkRange::Origin;
using Shape = FrameworkRange::Shape;

FrameworkRange parse_valid(std::string_view text) {
  const auto range = parse_framework_range(text);
  EXPECT_TRUE(range.has_value()) << text;
  return range.value_or(FrameworkRange{});
}

TEST(FrameworkRange, ForwardWithShapesAndOrigins) {
  const FrameworkRange range = parse_valid(
      "aten::conv2d, seq = 5, op_id = 7, sizes = [[32, 3, 224, 224], [64, 3, 7, 7], [64], [], [], "
      "[], []], input_op_ids = [(1,0), (10,2), (11,0), (0,-1), (0,-1), (0,-1), (0,-1)]");
  EXPECT_EQ(range.name, "aten::conv2d");
  EXPECT_EQ(range.sequence, 5);
  EXPECT_EQ(range.op_id, 7);
  EXPECT_EQ(range.direction, FrameworkDirection::forward);
  EXPECT_THAT(range.inputs, ElementsAre(Shape{32, 3, 224, 224}, Shape{64, 3, 7, 7}, Shape{64},
                                        Shape{}, Shape{}, Shape{}, Shape{}));
  ASSERT_EQ(range.origins.size(), 7U);
  EXPECT_EQ(range.origins[1], (Origin{10, 2}));
  EXPECT_EQ(range.origins[3], (Origin{0, -1}));
  EXPECT_EQ(range.sizes, "[[32, 3, 224, 224], [64, 3, 7, 7], [64], [], [], [], []]");
}

TEST(FrameworkRange, BackwardByItsName) {
  const FrameworkRange range = parse_valid(
      "ConvolutionBackward0, seq = 0, op_id = 163, sizes = [[2, 4, 8, 8]], input_op_ids = "
      "[(147,0)]");
  EXPECT_EQ(range.name, "ConvolutionBackward0");
  EXPECT_EQ(range.sequence, 0);
  EXPECT_EQ(range.direction, FrameworkDirection::backward);
  for (const char* text :
       {"autograd::engine::evaluate_function: AddmmBackward0, op_id = 100",
        "torch::autograd::AccumulateGrad, op_id = 122, sizes = [[10]], input_op_ids = [(120,0)]",
        "MyFunctionBackward, seq = 3", "ThnnConv2DBackward, seq = 9, sizes = []"}) {
    EXPECT_EQ(parse_valid(text).direction, FrameworkDirection::backward) << text;
  }
}

TEST(FrameworkRange, OldVersionsAndThoseWithoutShapes) {
  const FrameworkRange old = parse_valid("conv2d, seq = 5, sizes = [[2, 3], [4]]");
  EXPECT_EQ(old.name, "conv2d");
  EXPECT_EQ(old.sequence, 5);
  EXPECT_FALSE(old.op_id.has_value());
  EXPECT_THAT(old.inputs, ElementsAre(Shape{2, 3}, Shape{4}));
  EXPECT_EQ(parse_valid("aten::mm, seq = -1").sequence, std::nullopt);
  EXPECT_THAT(parse_valid("aten::mm, seq = 4, op_id = 9").inputs, IsEmpty());
  // Autograd does not track an operator without a sequence number.
  EXPECT_EQ(parse_valid("aten::empty, op_id = 2").direction, FrameworkDirection::unknown);
}

TEST(FrameworkRange, ShapesThatAreNoListsOfNumbersAreNoShapes) {
  for (const char* sizes : {"[[[2, 3], [4]], []]", "[[s0, 3]]", "[[-1]]", "[2]",
                            "[[99999999999999999999]]", "[[1, 2], ]"}) {
    const std::string text = "aten::cat, op_id = 2, sizes = " + std::string(sizes);
    const FrameworkRange range = parse_valid(text);  // refers to `text`
    EXPECT_THAT(range.inputs, IsEmpty()) << sizes;
    EXPECT_EQ(range.sizes, sizes);
  }
  // If the number of origins differs from the number of arguments, they are ignored.
  EXPECT_THAT(parse_valid("aten::mm, sizes = [[1], [2]], input_op_ids = [(1,0)]").origins,
              IsEmpty());
}

TEST(FrameworkRange, OtherTextsAreSomebodyElses) {
  for (const char* text : {"", "step", "layer:conv1", ", seq = 5", "epoch, lr = 0.1", "a, seq",
                           "a, seq = ", "a, seq = x", "a, seq = 5 of 7", "a, seq = 5, and more",
                           "a, sizes = ", "a, sizes = [[1]", "a, sizes = 3",
                           "a, seq = 99999999999999999999", "a, op_id = 5, sizes = []]"}) {
    EXPECT_FALSE(parse_framework_range(text).has_value()) << text;
  }
  // A name may contain any text.
  EXPECT_EQ(parse_valid("f(a, b), seq = 5").name, "f(a, b)");
}

}  // namespace
}  // namespace bench
