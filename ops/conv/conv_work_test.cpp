// SPDX-License-Identifier: Apache-2.0
// Compares the work model with a counter that visits every multiply-accumulate.
#include "ops/conv/conv_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench::ops::op_test {
namespace {

constexpr int kShapes = 10'000;

struct Counter {
  std::int64_t macs = 0;
  std::int64_t valid_macs = 0;
  std::vector<char> source;
  std::vector<char> weights;
  std::vector<char> destination;
};

std::int64_t touched(const std::vector<char>& marks) { return std::ranges::count(marks, 1); }

std::size_t volume(const ConvShape& shape, std::int64_t SpatialAxis::*size) {
  std::int64_t product = 1;
  for (const SpatialAxis& axis : shape.axes) product *= axis.*size;
  return static_cast<std::size_t>(product);
}

Counter count(const ConvShape& shape) {
  Counter counter;
  const auto n = static_cast<std::size_t>(shape.n);
  counter.source.resize(n * static_cast<std::size_t>(shape.c) * volume(shape, &SpatialAxis::input));
  counter.weights.resize(static_cast<std::size_t>(shape.k * shape.group_c()) *
                         volume(shape, &SpatialAxis::kernel));
  counter.destination.resize(n * static_cast<std::size_t>(shape.k) *
                             volume(shape, &SpatialAxis::output));
  for_each_product(shape, [&](const Product& product) {
    ++counter.macs;
    if (product.padding) return;
    ++counter.valid_macs;
    counter.source.at(product.source) = 1;
    counter.weights.at(product.weights) = 1;
    counter.destination.at(product.destination) = 1;
  });
  return counter;
}

std::int64_t size_of(DataType dtype) { return info(dtype).bytes; }

// Bytes that the loop nest reads: marked operands. A bias is read completely, and its gradient sums
// up the complete gradient of the destination.
std::int64_t expected_reads(const Problem& problem, const ConvShape& shape,
                            const Counter& counter) {
  const std::int64_t size = size_of(problem.dtype);
  const bool bias = shape.bias == Bias::present;
  switch (problem.direction) {
    case Direction::forward:
      return size * (touched(counter.source) + touched(counter.weights)) + (bias ? 4 * shape.k : 0);
    case Direction::backward_data:
      return size * (touched(counter.destination) + touched(counter.weights));
    case Direction::backward_weights:
      return size * (touched(counter.source) +
                     (bias ? static_cast<std::int64_t>(counter.destination.size())
                           : touched(counter.destination)));
  }
  return 0;
}

std::int64_t expected_writes(const Problem& problem, const ConvShape& shape,
                             const Counter& counter) {
  const auto bytes = [&](const std::vector<char>& marks) {
    return size_of(problem.dtype) * static_cast<std::int64_t>(marks.size());
  };
  switch (problem.direction) {
    case Direction::forward:
      return bytes(counter.destination);
    case Direction::backward_data:
      return bytes(counter.source);
    case Direction::backward_weights:
      return bytes(counter.weights) + (shape.bias == Bias::present ? 4 * shape.k : 0);
  }
  return 0;
}

TEST(ConvWork, EqualsALoopNest) {
  Random random(1);
  for (int i = 0; i < kShapes; ++i) {
    const Problem problem = random_conv(random, {.size = 5, .kernel = 3});
    SCOPED_TRACE(problem_tokens(problem));
    const ConvShape shape = conv_shape(problem.parameters);
    const Counter counter = count(shape);
    const bool bias = shape.bias == Bias::present && problem.direction != Direction::backward_data;
    const std::int64_t additions = bias ? static_cast<std::int64_t>(counter.destination.size()) : 0;
    ASSERT_EQ(problem.work.macs, counter.macs);
    ASSERT_EQ(problem.work.flops, 2 * counter.macs + additions);
    ASSERT_EQ(problem.work.flops_valid, 2 * counter.valid_macs + additions);
    ASSERT_EQ(problem.work.sfu_ops, 0);
    ASSERT_EQ(problem.work.bytes_read, expected_reads(problem, shape, counter));
    ASSERT_EQ(problem.work.bytes_written, expected_writes(problem, shape, counter));
  }
}

// The random shapes above cover the cases that they are intended for.
TEST(ConvWork, RandomShapesCoverTheParameters) {
  Random random(1);
  int grouped = 0, depthwise = 0, dilated = 0, uneven = 0, skipping = 0, transposed = 0;
  for (int i = 0; i < 1000; ++i) {
    const ConvShape shape = conv_shape(random_conv(random, {}).parameters);
    const SpatialAxis& axis = shape.axes.back();
    grouped += shape.groups > 1 ? 1 : 0;
    depthwise += shape.groups > 1 && shape.group_c() == 1 && shape.group_k() == 1 ? 1 : 0;
    dilated += axis.dilation > 1 ? 1 : 0;
    uneven += axis.pad.begin != axis.pad.end ? 1 : 0;
    skipping += axis.stride > axis.kernel && axis.output > 1 ? 1 : 0;
    transposed += shape.sweep == Sweep::transposed ? 1 : 0;
  }
  for (const int seen : {grouped, depthwise, dilated, uneven, skipping, transposed}) {
    EXPECT_GE(seen, 50);
  }
}

TEST(ConvWork, UntouchedInputsAreNotCounted) {
  // Stride 2 with a 1x1 kernel reads every other row and column.
  const Problem strided = problem("conv", "c8h56w56k8r1s1u2");
  EXPECT_EQ(strided.tensors[0].touched, 8 * 28 * 28);
  EXPECT_EQ(strided.tensors[0].elements(), 8 * 56 * 56);
  // A 3x3 kernel on a padded 1x1 image uses only its centre.
  EXPECT_EQ(problem("conv", "c8h1w1k8r3s3p1").tensors[1].touched, 8 * 8);
}

struct Golden {
  const char* tokens;
  DataType dtype;
  std::int64_t flops;
  std::int64_t bytes;
};

TEST(ConvWork, PublishedValues) {
  const Golden rows[] = {
      {"n32c3h224w224k64r7s7u2p3", DataType::f16, 7'552'892'928, 61'032'832},
      {"n32c64h56w56k64r1s1", DataType::f16, 822'083'584, 25'698'304},
      {"n32c64h56w56k256r1s1", DataType::f16, 3'288'334'336, 64'258'048},
      {"n32c64h56w56k64r3s3p1", DataType::f16, 7'398'752'256, 25'763'840},
      {"c64h56w56k64r3s3p1", DataType::f32, 231'211'008, 1'753'088},
  };
  for (const Golden& row : rows) {
    const Problem conv = problem("conv", row.tokens, row.dtype);
    EXPECT_EQ(conv.work.flops, row.flops) << row.tokens;
    EXPECT_EQ(conv.work.traffic().count, row.bytes) << row.tokens;
    // Forward and both gradients use the same products.
    for (const Direction direction : {Direction::backward_data, Direction::backward_weights}) {
      EXPECT_EQ(problem("conv", row.tokens, row.dtype, direction).work.flops, row.flops);
    }
  }
}

TEST(ConvWork, PaddingTapsAreApart) {
  // 7x7 with pad 1: 19 of 21 pairs per axis are valid.
  const Problem conv = problem("conv", "c512h7w7k512r3s3p1");
  EXPECT_EQ(conv.work.flops_valid, 2 * 512 * 512 * 19 * 19);
  EXPECT_EQ(conv.work.macs, 512 * 512 * 21 * 21);
}

TEST(ConvWork, HugeShapesTakeNoTime) {
  // A billion positions per axis are counted without visiting each.
  const Problem conv = problem("conv", "c1w1000000000k1s1000001u3p7e2");
  EXPECT_GT(conv.work.flops_valid, 0);
  EXPECT_LT(conv.work.flops_valid, conv.work.flops);
}

TEST(ConvWork, CountsBeyond63BitsAreErrors) {
  const Result<Problem> elements = try_problem("conv", "n3000000000c3000000000h4w4k1r1s1");
  ASSERT_FALSE(elements.ok());
  EXPECT_EQ(elements.error().where, "c");
  EXPECT_NE(elements.error().what.find("2^63"), std::string::npos);
  const Result<Problem> flops = try_problem("conv", "c2000000000h2w2k1000000000r1s1p1000000000");
  ASSERT_FALSE(flops.ok());
  EXPECT_NE(flops.error().what.find("2^63"), std::string::npos);
  EXPECT_FALSE(flops.error().where.empty());
}

}  // namespace
}  // namespace bench::ops::op_test
