// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace bench::ops {
namespace {

struct Walked {
  std::int64_t taps = 0;
  std::set<std::int64_t> inputs, outputs, kernels;
};

Walked walk(const SpatialAxis& axis, Sweep sweep) {
  Walked walked;
  const bool transposed = sweep == Sweep::transposed;
  for (std::int64_t step = 0; step < (transposed ? axis.input : axis.output); ++step) {
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const std::int64_t position = step * axis.stride - axis.pad.begin + tap * axis.dilation;
      if (position < 0 || position >= (transposed ? axis.output : axis.input)) continue;
      ++walked.taps;
      walked.inputs.insert(transposed ? step : position);
      walked.outputs.insert(transposed ? position : step);
      walked.kernels.insert(tap);
    }
  }
  return walked;
}

TEST(CountAxis, EqualsAWalkOverAllPairs) {
  std::mt19937_64 random(1);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int walks = 0;
  while (walks < 50'000) {
    SpatialAxis axis;
    axis.name = "h";
    axis.input = draw(1, 14);
    axis.kernel = draw(1, 9);
    axis.stride = draw(1, 7);
    axis.dilation = draw(1, 7);
    axis.pad = {draw(0, 9), draw(0, 9)};
    const Sweep sweep = draw(0, 1) == 0 ? Sweep::convolution : Sweep::transposed;
    axis.output_pad = sweep == Sweep::transposed ? draw(0, 6) : 0;
    if (!infer_output(axis, sweep).ok()) continue;
    ++walks;
    const Walked want = walk(axis, sweep);
    const AxisCounts got = count_axis(axis, sweep);
    ASSERT_EQ(got.taps.value(), want.taps);
    ASSERT_EQ(got.inputs, static_cast<std::int64_t>(want.inputs.size()));
    ASSERT_EQ(got.outputs, static_cast<std::int64_t>(want.outputs.size()));
    ASSERT_EQ(got.kernels, static_cast<std::int64_t>(want.kernels.size()));
  }
}

TEST(CountAxis, HugeAxesAreCountedAtOnce) {
  SpatialAxis axis;
  axis.name = "w";
  axis.input = 4'000'000'000'000'000'000;
  axis.kernel = 3;
  axis.stride = 2;
  axis.pad = {1, 1};
  ASSERT_TRUE(infer_output(axis, Sweep::convolution).ok());
  const AxisCounts counts = count_axis(axis, Sweep::convolution);
  EXPECT_EQ(counts.inputs, axis.input);
  EXPECT_EQ(counts.outputs, axis.output);
  EXPECT_EQ(counts.taps.value(), 3 * axis.output - 1);  // one tap of the first output is padding
  axis.kernel = 2'000'000'000'000'000'000;
  axis.stride = 1;
  axis.pad = {0, 0};
  ASSERT_TRUE(infer_output(axis, Sweep::convolution).ok());
  EXPECT_FALSE(count_axis(axis, Sweep::convolution).taps.value());
}

}  // namespace
}  // namespace bench::ops
