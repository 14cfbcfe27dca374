// SPDX-License-Identifier: Apache-2.0
#include "harness/import/benchdnn_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bench {
namespace {

using testing::ElementsAre;

constexpr std::array<std::string_view, 20> kKeys = {"mb", "ic", "id", "ih", "iw", "oc", "od",
                                                    "oh", "ow", "kd", "kh", "kw", "sh", "sw",
                                                    "pd", "ph", "pw", "dd", "dh", "dw"};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const BenchdnnWord& word : split_benchdnn_words(text))
    words.push_back(std::to_string(word.line) + " " + word.text);
  return words;
}

BenchdnnDescriptor descriptor_of(std::string_view text) {
  const auto descriptor = BenchdnnDescriptor::parse(text, kKeys);
  EXPECT_TRUE(descriptor.ok()) << text;
  return descriptor.ok() ? *descriptor : BenchdnnDescriptor();
}

std::string axes_of(std::string_view text, ops::Sweep sweep = ops::Sweep::convolution) {
  const auto axes = complete_benchdnn_axes(descriptor_of(text), sweep);
  return axes.ok() ? axes->text : axes.error().message();
}

TEST(BenchdnnWords, AreSeparatedByWhiteSpaceAndKeepTheirLine) {
  EXPECT_THAT(words_of("--dt=f32 ic1\n\n  ic2\r\nic3"),
              ElementsAre("1 --dt=f32", "1 ic1", "3 ic2", "4 ic3"));
}

TEST(BenchdnnWords, ACommentEndsWithItsLine) {
  EXPECT_THAT(words_of("# ic1 --reset\nic2 #ic3\nic4"), ElementsAre("2 ic2", "3 ic4"));
}

TEST(BenchdnnWords, ABackslashContinuesWithTheNextWord) {
  EXPECT_THAT(words_of("--dt=f32,\\\n  bf16 ic1"), ElementsAre("1 --dt=f32,bf16", "2 ic1"));
  EXPECT_THAT(words_of("ic1 \\\n ih2"), ElementsAre("1 ic1", "1 ih2"));
}

TEST(BenchdnnDescriptors, NamesAndNumbersComeInAnyOrderUntilTheName) {
  const BenchdnnDescriptor descriptor = descriptor_of("oc8_ic16_mb2n\"oc9 ih7*3\"");
  EXPECT_EQ(descriptor.find("ic"), 16);
  EXPECT_EQ(descriptor.find("oc"), 8);
  EXPECT_EQ(descriptor.find("ih"), std::nullopt);
  EXPECT_EQ(descriptor.value_or("mb", 1), 2);
}

TEST(BenchdnnDescriptors, TheLastOfTwoNumbersCounts) {
  EXPECT_EQ(descriptor_of("ic1ic2").find("ic"), 2);
}

TEST(BenchdnnDescriptors, UnknownNamesAndMissingNumbersAreErrors) {
  EXPECT_EQ(BenchdnnDescriptor::parse("ic4xy3", kKeys).error().what,
            "no size of this driver begins at `xy3`");
  EXPECT_FALSE(BenchdnnDescriptor::parse("ic", kKeys).ok());
  EXPECT_FALSE(BenchdnnDescriptor::parse("ic99999999999999999999", kKeys).ok());
}

TEST(BenchdnnAxisTexts, AMissingOutputFollowsFromThePadding) {
  EXPECT_EQ(axes_of("ih5kh3ph1"), "_ih5oh5kh3sh1dh0ph1_iw5ow5kw3sw1dw0pw1");
  EXPECT_EQ(axes_of("iw5kw3"), "_iw5ow3kw3sw1dw0pw0");
}

TEST(BenchdnnAxisTexts, AMissingPaddingFollowsFromTheOutput) {
  EXPECT_EQ(axes_of("ih224oh112kh3sh2"), "_ih224oh112kh3sh2dh0ph0_iw224ow112kw3sw2dw0pw0");
  EXPECT_EQ(axes_of("iw5ow5kw5"), "_iw5ow5kw5sw1dw0pw2");
}

TEST(BenchdnnAxisTexts, DRepeatsToTheInnerAxes) {
  EXPECT_EQ(axes_of("id4kd3pd1"), "_id4od4kd3sd1dd0pd1_ih4oh4kh3sh1dh0ph1_iw4ow4kw3sw1dw0pw1");
  EXPECT_EQ(axes_of("id4kd3pd1ih5kh1"), "with d, either both of h and w or none of them are given");
}

TEST(BenchdnnAxisTexts, ATransposedOutputIsLargerThanItsInput) {
  EXPECT_EQ(axes_of("iw4kw3sw2", ops::Sweep::transposed), "_iw4ow9kw3sw2dw0pw0");
  EXPECT_EQ(axes_of("iw4ow8kw3sw2pw1", ops::Sweep::transposed), "_iw4ow8kw3sw2dw0pw1");
}

TEST(BenchdnnAxisTexts, WhatACaseCannotHaveIsAnError) {
  EXPECT_EQ(axes_of("ic4"), "there is no axis: d, h or w");
  EXPECT_EQ(axes_of("ih5"), "axis h: ih or kh is missing or 0");
  EXPECT_EQ(axes_of("iw9ow2kw3pw0"), "axis w: 2 outputs leave out the end of the input");
  EXPECT_EQ(axes_of("iw9ow2kw3"), "axis w: the padding before the input is negative");
  EXPECT_EQ(axes_of("iw2kw5"), "axis w: the output would have no elements");
}

TEST(BenchdnnSizes, RepeatTheOuterOne) {
  EXPECT_THAT(*complete_benchdnn_sizes(descriptor_of("ic3ih7")), ElementsAre(7, 7));
  EXPECT_THAT(*complete_benchdnn_sizes(descriptor_of("ic3id2")), ElementsAre(2, 2, 2));
  EXPECT_THAT(*complete_benchdnn_sizes(descriptor_of("ic3")), ElementsAre());
}

TEST(BenchdnnShapes, EndAtTheName) {
  const auto shapes = parse_benchdnn_shapes("2x3:3x4_n\"a:1x1\"");
  ASSERT_TRUE(shapes.ok());
  EXPECT_THAT(*shapes, ElementsAre(ElementsAre(2, 3), ElementsAre(3, 4)));
  EXPECT_FALSE(parse_benchdnn_shapes("2x0").ok());
  EXPECT_FALSE(parse_benchdnn_shapes("").ok());
}

}  // namespace
}  // namespace bench
