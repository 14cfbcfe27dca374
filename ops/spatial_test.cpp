// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum ParameterKind;

constexpr std::array<Parameter, 6> kSpatialTable = {{
    {"d", "d", count, "optional", "depth"},
    {"h", "h", count, "like d", "height"},
    {"w", "w", count, "like h", "width"},
    {"window", "k", spatial, "required", "window"},
    {"stride", "u", spatial, "window", "step"},
    {"pad", "p", padding, "0", "zeros", 0},
}};
constexpr std::array<std::string_view, 1> kWindow = {"window"};

ParameterSet sizes(std::initializer_list<std::pair<const char*, std::int64_t>> given) {
  ParameterSet set(kSpatialTable);
  for (const auto& [name, size] : given) set.set(name, size);
  return set;
}

TEST(CompleteSizes, RankFollowsTheSizesGiven) {
  ParameterSet volume = sizes({{"d", 3}});
  EXPECT_EQ(*complete_sizes(volume), 3);
  EXPECT_THAT(spatial_sizes(volume), ElementsAre(3, 3, 3));
  ParameterSet image = sizes({{"h", 4}, {"w", 5}});
  EXPECT_EQ(*complete_sizes(image), 2);
  EXPECT_THAT(spatial_sizes(image), ElementsAre(4, 5));
  ParameterSet line = sizes({{"w", 6}});
  EXPECT_EQ(*complete_sizes(line), 1);
  EXPECT_EQ(spatial_rank(line), 1);
  ParameterSet deep = sizes({{"d", 2}, {"w", 7}});
  EXPECT_EQ(*complete_sizes(deep), 3);
  EXPECT_THAT(spatial_sizes(deep), ElementsAre(2, 2, 7));
}

TEST(SetSpatialSizes, SetsTheLastNamesAsManyAsThereAreSizes) {
  ParameterSet set(kSpatialTable);
  const std::vector<std::int64_t> two = {5, 7};
  set_spatial_sizes(set, kSpatialSizeNames, two);
  EXPECT_FALSE(set.has("d"));
  EXPECT_EQ(set.count("h"), 5);
  EXPECT_EQ(set.count("w"), 7);
}

TEST(CompleteSizes, NoneIsAnError) {
  ParameterSet none(kSpatialTable);
  const Result<int> rank = complete_sizes(none);
  ASSERT_FALSE(rank.ok());
  EXPECT_THAT(rank.error().message(), HasSubstr("`w` (1-D), `h` (2-D"));
}

TEST(ExpandSpatial, OneEntryStandsForAll) {
  ParameterSet set = sizes({{"h", 4}, {"w", 5}});
  set.set("window", std::vector<std::int64_t>{3});
  ASSERT_TRUE(expand_spatial(set, "window", 2, 1).ok());
  EXPECT_THAT(set.numbers("window"), ElementsAre(3, 3));
  ASSERT_TRUE(expand_spatial(set, "stride", 2, 2).ok());
  EXPECT_THAT(set.numbers("stride"), ElementsAre(2, 2));
  ASSERT_TRUE(expand_padding(set, "pad", 2).ok());
  EXPECT_EQ(set.padding("pad"), (std::vector<PadPair>{{0, 0}, {0, 0}}));
  set.set("pad", std::vector<PadPair>{{0, 1}, {1, 0}, {0, 0}});
  const Status three = expand_padding(set, "pad", 2);
  ASSERT_FALSE(three.ok());
  EXPECT_EQ(three.error().what, "`pad` has 3 entries, expected 1 or 2 (h, w)");
}

TEST(SpatialAxes, ReadASpatialKernel) {
  ParameterSet set = sizes({{"h", 4}, {"w", 5}});
  set.set("window", std::vector<std::int64_t>{3, 2});
  set.set("stride", std::vector<std::int64_t>{2, 1});
  set.set("pad", std::vector<PadPair>{{0, 1}, {1, 0}});
  const std::vector<SpatialAxis> axes = spatial_axes(set, kWindow);
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(axes[0].name, "h");
  EXPECT_EQ(axes[0].kernel, 3);
  EXPECT_EQ(axes[0].stride, 2);
  EXPECT_EQ(axes[0].pad.end, 1);
  EXPECT_EQ(axes[1].input, 5);
  EXPECT_EQ(axes[1].kernel, 2);
  EXPECT_EQ(axes[1].dilation, 1);
}

SpatialAxis axis_of(std::int64_t input, std::int64_t kernel, std::int64_t stride, PadPair pad,
                    std::int64_t dilation = 1, std::int64_t output_pad = 0) {
  return {"h", input, kernel, stride, pad, dilation, output_pad, 0};
}

TEST(InferOutput, FollowsTheFormulas) {
  const auto convolution = [](SpatialAxis axis) {
    EXPECT_TRUE(infer_output(axis, Sweep::convolution).ok());
    return axis.output;
  };
  EXPECT_EQ(convolution(axis_of(224, 7, 2, {3, 3})), 112);
  EXPECT_EQ(convolution(axis_of(56, 3, 1, {1, 1})), 56);
  EXPECT_EQ(convolution(axis_of(112, 3, 2, {0, 1})), 56);
  EXPECT_EQ(convolution(axis_of(8, 3, 1, {0, 0}, 3)), 2);
  EXPECT_EQ(convolution(axis_of(3, 3, 5, {0, 0})), 1);
  SpatialAxis transposed = axis_of(4, 3, 2, {1, 1}, 1, 1);
  ASSERT_TRUE(infer_output(transposed, Sweep::transposed).ok());
  EXPECT_EQ(transposed.output, 8);
}

TEST(InferOutput, NoOutputNamesTheAxis) {
  SpatialAxis axis = axis_of(5, 7, 1, {0, 1});
  const Status status = infer_output(axis, Sweep::convolution);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, "h");
  EXPECT_THAT(status.error().what, HasSubstr("size 5, kernel 7"));
}

TEST(InferOutput, StepsBeyond63BitsAreErrors) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (SpatialAxis axis : {axis_of(kHuge, 1, 1, {kHuge, kHuge}), axis_of(1, kHuge, 1, {0, 0}, 4),
                           axis_of(kHuge, 1, 1, {kHuge, 0})}) {
    const Status status = infer_output(axis, Sweep::convolution);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().what, HasSubstr("2^63"));
  }
  SpatialAxis axis = axis_of(kHuge, 1, 4, {0, 0});
  EXPECT_FALSE(infer_output(axis, Sweep::transposed).ok());
}

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
