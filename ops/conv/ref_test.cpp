// SPDX-License-Identifier: Apache-2.0
// Compares the references of a convolution: the fast one, the one by position, and a loop nest.
// Each is written independently.
#include "ops/conv/conv_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace bench::ops::op_test {
namespace {

using Tensors = std::vector<std::vector<double>>;

std::vector<std::int64_t> all_positions(std::size_t count) {
  std::vector<std::int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  return positions;
}

// Computes output `output` with the loop nest.
std::vector<double> nest_values(const Problem& problem, const Tensors& inputs, std::size_t output) {
  const ConvShape shape = conv_shape(problem.parameters);
  const Tensor& tensor = problem.tensors[problem.input_count() + output];
  std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
  const auto volume = static_cast<std::size_t>(std::accumulate(
      shape.axes.begin(), shape.axes.end(), std::int64_t{1},
      [](std::int64_t product, const SpatialAxis& axis) { return product * axis.output; }));
  const auto channel = [&](std::size_t i) {
    return i / volume % static_cast<std::size_t>(shape.k);
  };
  if (output == 1) {
    for (std::size_t i = 0; i < inputs[1].size(); ++i) values[channel(i)] += inputs[1][i];
    return values;
  }
  for_each_product(shape, [&](const Product& p) {
    if (p.padding) return;
    switch (problem.direction) {
      case Direction::forward:
        values[p.destination] += inputs[0][p.source] * inputs[1][p.weights];
        break;
      case Direction::backward_data:
        values[p.source] += inputs[0][p.destination] * inputs[1][p.weights];
        break;
      case Direction::backward_weights:
        values[p.weights] += inputs[0][p.source] * inputs[1][p.destination];
        break;
    }
  });
  if (problem.direction == Direction::forward && shape.bias == Bias::present) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += inputs[2][channel(i)];
  }
  return values;
}

// Sums of at most a few hundred products of order 1.
constexpr double kOrderOfAddition = 1e-12;

void expect_equal(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], kOrderOfAddition) << i;
}

void expect_all_agree(const Problem& problem, std::uint64_t seed) {
  SCOPED_TRACE(problem_tokens(problem));
  const Tensors inputs = random_inputs(problem, seed);
  const std::size_t outputs = problem.output_count();
  for (std::size_t output = 0; output < outputs; ++output) {
    const std::vector<double> want = nest_values(problem, inputs, output);
    expect_equal(reference_conv(problem, inputs, output, {}), want);
    expect_equal(reference_conv(problem, inputs, output, all_positions(want.size())), want);
  }
}

TEST(ConvReference, AgreesWithALoopNest) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    expect_all_agree(random_conv(random, {.channels = 5, .size = 6, .kernel = 3}), random());
    if (HasFatalFailure()) return;
  }
}

TEST(ConvReference, AgreesOnWideRows) {
  Random random(3);
  for (const char* tokens :
       {"n2c9h5w37k6r3s3p1", "c6h3w29k10r2s5u1x3p1x0_2", "g6c6h9w33k12r3s3u2p1+bias",
        "c5w40k7s4u3p2e2o1+bias+transposed", "g2c6h7w19k8r3s2u2x5p2_1x0_3+transposed"}) {
    for (int direction = 0; direction < 3; ++direction) {
      expect_all_agree(problem("conv", tokens, DataType::f32, static_cast<Direction>(direction)),
                       random());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ConvReference, PadsTooLargeForAGridAreTakenElementByElement) {
  // Padding would take 2^26 zeros per row; two outputs use the input.
  const Problem padded = problem("conv", "c1h1w3k1r1s1u1x33554432p0x33554432");
  ASSERT_EQ(padded.tensors.back().dims.back(), 3);
  const Tensors inputs = {{1, 2, 3}, {10}};
  EXPECT_EQ(reference_conv(padded, inputs, 0, {}), (std::vector<double>{0, 10, 0}));
}

TEST(ConvReference, PositionsComeInTheOrderAskedFor) {
  const Problem conv = problem("conv", "c1w4k1s1");
  const Tensors inputs = {{1, 2, 3, 4}, {2}};
  const std::vector<std::int64_t> positions = {3, 0, 3};
  EXPECT_EQ(reference_conv(conv, inputs, 0, positions), (std::vector<double>{8, 2, 8}));
}

TEST(ConvTolerance, GrowsWithTheSumAndNamesTheType) {
  const Tolerance narrow = conv_tolerance(problem("conv", "c1w8k1s1"));
  const Tolerance wide = conv_tolerance(problem("conv", "c4096w8k1s1"));
  EXPECT_NEAR(wide.absolute / narrow.absolute, 64, 0.1);
  // One missing product of 4096 must exceed the tolerance.
  EXPECT_LT(wide.absolute, 0.1 / 64);
  EXPECT_EQ(conv_tolerance(problem("conv", "c8w8k1s1", DataType::bf16)).relative, 0x1p-7);
  EXPECT_EQ(conv_tolerance(problem("conv", "c8w8k1s1", DataType::s8)).absolute, 0);
  EXPECT_EQ(conv_tolerance(problem("conv", "c8w8k1s1+bias", DataType::u8)).absolute, 1);
}

// A sequential sum in single precision is within the tolerance; one wrong product is not.
TEST(ConvTolerance, HoldsForSinglePrecision) {
  const Problem conv = problem("conv", "c512h4w4k8r3s3p1");
  const Tensors inputs = random_inputs(conv, 5);
  const std::vector<double> want = reference_conv(conv, inputs, 0, {});
  std::vector<float> got(want.size());
  for_each_product(conv_shape(conv.parameters), [&](const Product& p) {
    if (p.padding) return;
    got[p.destination] +=
        static_cast<float>(inputs[0][p.source]) * static_cast<float>(inputs[1][p.weights]);
  });
  const Tolerance tolerance = conv_tolerance(conv);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(got[i]) - want[i]),
              tolerance.absolute + tolerance.relative * std::abs(want[i]));
  }
  const double product = 0.25 / std::sqrt(512.0 * 9);
  EXPECT_GT(product, 10 * tolerance.absolute);
}

}  // namespace
}  // namespace bench::ops::op_test
