// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::ops {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc tagged(const Dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

TEST(LayoutText, IsTheOrderOfDimensionsAndBlocks) {
  const Dims image{2, 32, 5, 7};
  EXPECT_EQ(format_layout(tagged(image, Tag::abcd)), "abcd");
  EXPECT_EQ(format_layout(tagged(image, Tag::acdb)), "acdb");
  EXPECT_EQ(format_layout(tagged(image, Tag::aBcd16b)), "aBcd16b");
  EXPECT_EQ(format_layout(tagged({64, 64, 3, 3}, Tag::ABcd16b16a)), "ABcd16b16a");
  EXPECT_EQ(format_layout(tagged(image, Tag::any)), "any");
  EXPECT_EQ(format_layout(tagged({7}, Tag::a)), "a");
  EXPECT_EQ(format_layout(tagged({4, 6}, Tag::ba)), "ba");
}

TEST(LayoutText, PaddedBlocksAreDense) {
  EXPECT_EQ(format_layout(tagged({2, 20, 5, 7}, Tag::aBcd16b)), "aBcd16b");
}

TEST(LayoutText, GapsShowAsStrides) {
  const memory::desc gaps({4, 6}, memory::data_type::f32, memory::dims{8, 1});
  EXPECT_EQ(format_layout(gaps), "ab strides 8x1");
}

TEST(DescOfText, IsTheInverseOfLayoutText) {
  const Dims image{2, 32, 5, 7};
  for (const Tag tag : {Tag::abcd, Tag::acdb, Tag::aBcd16b, Tag::aBcd8b}) {
    const memory::desc desc = tagged(image, tag);
    EXPECT_EQ(parse_desc(format_layout(desc), image, DataType::f32), desc);
  }
  EXPECT_EQ(parse_desc("any", image, DataType::f32), std::nullopt);
  EXPECT_EQ(parse_desc("ab strides 8x1", {4, 6}, DataType::f32), std::nullopt);
}

TEST(PlainDesc, IsRowMajorOfAnyRank) {
  EXPECT_EQ(plain_desc({2, 3, 4, 5}, DataType::f32), tagged({2, 3, 4, 5}, Tag::abcd));
  EXPECT_EQ(plain_desc({9}, DataType::f32), tagged({9}, Tag::a));
  EXPECT_EQ(plain_desc({2, 3, 4, 5, 6}, DataType::f32), tagged({2, 3, 4, 5, 6}, Tag::abcde));
}

TEST(ChannelsLastDesc, PutsChannelsInnermost) {
  EXPECT_EQ(channels_last_desc({2, 3, 4, 5}, DataType::f32), tagged({2, 3, 4, 5}, Tag::acdb));
  EXPECT_EQ(channels_last_desc({2, 3, 4}, DataType::f32), tagged({2, 3, 4}, Tag::acb));
  EXPECT_EQ(channels_last_desc({2, 3, 4, 5, 6}, DataType::f32),
            tagged({2, 3, 4, 5, 6}, Tag::acdeb));
  EXPECT_EQ(channels_last_desc({2, 3}, DataType::f32), tagged({2, 3}, Tag::ab));
}

TEST(SameOrder, SeesThroughDimensionsOfOne) {
  const Dims row{2, 32, 1, 1};
  EXPECT_TRUE(same_order(tagged(row, Tag::abcd), tagged(row, Tag::acdb)));
  EXPECT_TRUE(same_order(tagged(row, Tag::abcd), tagged(row, Tag::aBcd8b)));
  EXPECT_TRUE(same_order(tagged(row, Tag::aBcd16b), tagged(row, Tag::aBcd8b)));
  EXPECT_TRUE(same_order(tagged({2, 1, 4, 5}, Tag::abcd), tagged({2, 1, 4, 5}, Tag::acdb)));
}

TEST(SameOrder, KeepsWhatDiffersApart) {
  const Dims image{2, 32, 3, 3};
  EXPECT_FALSE(same_order(tagged(image, Tag::abcd), tagged(image, Tag::acdb)));
  EXPECT_FALSE(same_order(tagged(image, Tag::acdb), tagged(image, Tag::aBcd8b)));
  EXPECT_FALSE(same_order(tagged(image, Tag::aBcd16b), tagged(image, Tag::aBcd8b)));
  // Padded channels take memory.
  const Dims padded{2, 20, 1, 1};
  EXPECT_FALSE(same_order(tagged(padded, Tag::abcd), tagged(padded, Tag::aBcd16b)));
  const memory::desc other_type(image, memory::data_type::s32, Tag::abcd);
  EXPECT_FALSE(same_order(tagged(image, Tag::abcd), other_type));
}

TEST(OnednnType, LacksWhatTheBackendRefuses) {
  EXPECT_TRUE(find_onednn_type(DataType::f32).has_value());
  EXPECT_TRUE(find_onednn_type(DataType::u8).has_value());
  EXPECT_FALSE(find_onednn_type(DataType::f64).has_value());
  EXPECT_FALSE(find_onednn_type(DataType::f8_e4m3).has_value());
}

}  // namespace
}  // namespace bench::ops
