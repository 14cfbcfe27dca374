// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose_text.hpp"

#include "ops/conv/conv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace bench::ops {
namespace {

TEST(VerboseText, Dims) {
  EXPECT_EQ(parse_dims("64x32"), (Dims{64, 32}));
  EXPECT_EQ(parse_dims("7"), (Dims{7}));
  for (const char* text : {"", "x", "2x", "x2", "2xx3", "2x0", "2x*", "2x3 ", "-1", "2147483649",
                           "99999999999999999999"}) {
    EXPECT_EQ(parse_dims(text), std::nullopt) << text;
  }
  const auto list = parse_dims_list("2x3:3x4");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(*list, (std::vector<Dims>{{2, 3}, {3, 4}}));
  EXPECT_EQ(parse_dims_list("2x3::3x4"), std::nullopt);
}

TEST(VerboseText, WordsOfAProblem) {
  const auto words = ProblemWords::parse("g4mb2_ic16oc32");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->find("g"), 4);
  EXPECT_EQ(words->find("oc"), 32);
  EXPECT_EQ(words->find("ih"), std::nullopt);
  EXPECT_TRUE(words->has_only(std::array<std::string_view, 4>{"g", "mb", "ic", "oc"}));
  EXPECT_FALSE(words->has_only(std::array<std::string_view, 2>{"g", "mb"}));
  for (const char* text : {"mb", "2x3", "mb2mb3", "mb-1", "beta0.75", "MB2", "mb99999999999"}) {
    EXPECT_FALSE(ProblemWords::parse(text).has_value()) << text;
  }
}

TEST(VerboseText, AuxiliaryValues) {
  EXPECT_EQ(auxiliary_value("alg:eltwise_relu alpha:0.1 beta:0", "alpha"), "0.1");
  EXPECT_EQ(auxiliary_value("axis:1", "alg"), "");
  EXPECT_EQ(auxiliary_value("", "alg"), "");
}

TEST(VerboseText, Directions) {
  EXPECT_EQ(parse_direction("forward_training"), Direction::forward);
  EXPECT_EQ(parse_direction("backward_weights"), Direction::backward_weights);
  EXPECT_EQ(parse_direction("backward"), std::nullopt);
  EXPECT_EQ(parse_direction("undef"), std::nullopt);
}

SpatialAxis axis_of(std::string_view text, Sweep sweep) {
  const auto words = ProblemWords::parse(text);
  const auto axis = parse_axis(*words, 'h', sweep);
  EXPECT_TRUE(axis.has_value()) << text;
  return axis.value_or(SpatialAxis());
}

TEST(VerboseText, ThePaddingAtTheEndIsWhatTheOutputNeeds) {
  EXPECT_EQ(axis_of("ih14oh14kh3sh1dh0ph1", Sweep::convolution).pad, (PadPair{1, 1}));
  EXPECT_EQ(axis_of("ih15oh6kh3sh2dh1ph1", Sweep::convolution).pad, (PadPair{1, 0}));
  // An end of 2 gives the same output; parse_axis() prefers the padding at the beginning.
  EXPECT_EQ(axis_of("ih15oh7kh3sh2dh1ph1", Sweep::convolution).pad, (PadPair{1, 1}));
  EXPECT_EQ(axis_of("ih224oh112kh3sh2dh0ph0", Sweep::convolution).pad, (PadPair{0, 1}));
  EXPECT_EQ(axis_of("ih8oh2kh1sh5dh0ph0", Sweep::convolution).pad, (PadPair{0, 0}));
  EXPECT_EQ(axis_of("ih15oh6kh3sh2dh1ph1", Sweep::convolution).dilation, 2);
  const SpatialAxis even = axis_of("ih7oh14kh4sh2dh0ph1", Sweep::transposed);
  EXPECT_EQ(even.pad, (PadPair{1, 1}));
  EXPECT_EQ(even.output_pad, 0);
  const SpatialAxis larger = axis_of("ih7oh14kh3sh2dh0ph1", Sweep::transposed);
  EXPECT_EQ(larger.pad, (PadPair{1, 1}));
  EXPECT_EQ(larger.output_pad, 1);
  for (const char* text : {"ih14oh14kh3sh1dh0", "ih14oh9kh3sh1dh0ph1", "ih0oh1kh1sh1dh0ph0"}) {
    EXPECT_FALSE(parse_axis(*ProblemWords::parse(text), 'h', Sweep::convolution)) << text;
  }
}

// The padding that was found reproduces the output that the library printed.
TEST(VerboseText, AnyOutputThatAPaddingCanMake) {
  int checked = 0;
  for (int input = 1; input <= 9; ++input) {
    for (int kernel = 1; kernel <= 4; ++kernel) {
      for (int stride = 1; stride <= 3; ++stride) {
        for (int output = 1; output <= 12; ++output) {
          for (const Sweep sweep : {Sweep::convolution, Sweep::transposed}) {
            const std::string text = "ih" + std::to_string(input) + "oh" + std::to_string(output) +
                                     "kh" + std::to_string(kernel) + "sh" + std::to_string(stride) +
                                     "dh1ph1";
            auto axis = parse_axis(*ProblemWords::parse(text), 'h', sweep);
            if (!axis) continue;
            EXPECT_GE(axis->pad.end, 0) << text;
            ASSERT_TRUE(infer_output(*axis, sweep).ok()) << text;
            EXPECT_EQ(axis->output, output) << text;
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 400);
}

TEST(VerboseText, DimensionsThatOldVersionsWriteAsOnes) {
  const auto words = ProblemWords::parse("mb1_ic8oc8_ih1oh1kh1sh1dh1ph0_iw30ow28kw3sw1dw0pw0");
  const auto one = parse_axes(*words, Sweep::convolution, 3);
  ASSERT_TRUE(one.has_value());
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ(one->front().name, "w");
  EXPECT_EQ(parse_axes(*words, Sweep::convolution, 4)->size(), 2U);
  EXPECT_EQ(parse_axes(*words, Sweep::convolution, std::nullopt)->size(), 2U);
  EXPECT_FALSE(parse_axes(*words, Sweep::convolution, 5).has_value());
  const auto real = ProblemWords::parse("ih3oh3kh1sh1dh0ph0_iw30ow28kw3sw1dw0pw0");
  EXPECT_FALSE(parse_axes(*real, Sweep::convolution, 3).has_value());
}

}  // namespace
}  // namespace bench::ops
