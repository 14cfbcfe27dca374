// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/memory_descriptor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

MemoryDescriptor parse_one(std::string_view text) {
  std::vector<MemoryDescriptor> descriptors;
  parse_memory_descriptors(text, descriptors);
  EXPECT_EQ(descriptors.size(), 1U) << text;
  return descriptors.empty() ? MemoryDescriptor() : descriptors.front();
}

std::string fields(std::string_view text) {
  const MemoryDescriptor d = parse_one(text);
  std::string joined;
  for (const std::string_view field :
       {d.argument, d.dtype, d.properties, d.kind, d.tag, d.strides, d.flags}) {
    joined.append(field).append("|");
  }
  return joined;
}

TEST(MemoryDescriptor, OfAllFormats) {
  EXPECT_EQ(fields("src_f32::blocked:aBcd16b:f0"), "src|f32||blocked|aBcd16b||f0|");
  EXPECT_EQ(fields("wei_f32:p:blocked:Acb16a:f0"), "wei|f32|p|blocked|Acb16a||f0|");
  EXPECT_EQ(fields("src_f32::blocked:ab:40x1:f0"), "src|f32||blocked|ab|40x1|f0|");
  EXPECT_EQ(fields("wei_f32:ap:blocked:BA16a64b::f0"), "wei|f32|ap|blocked|BA16a64b||f0|");
  EXPECT_EQ(fields("bia_f32::blocked:ab::f0_mask2"), "bia|f32||blocked|ab||f0_mask2|");
  EXPECT_EQ(fields("src:f32:a:blocked:acdb::f0"), "src|f32|a|blocked|acdb||f0|");
  EXPECT_EQ(fields("bia:f32:a:blocked:ab::f0_mask2"), "bia|f32|a|blocked|ab||f0_mask2|");
  EXPECT_EQ(fields("dst:f32:a:any:any::f0"), "dst|f32|a|any|any||f0|");
  EXPECT_EQ(fields("wei_s8:p:blocked:ABcd4b16a4b:f1:s8m1"),
            "wei|s8|p|blocked|ABcd4b16a4b||f1:s8m1|");
}

TEST(MemoryDescriptor, UndefinedTensors) {
  for (const std::string_view text : {"bia_undef::undef::f0", "bia_undef::undef::",
                                      "bia_undef::undef:::", "bia:undef::undef:::"}) {
    EXPECT_FALSE(parse_one(text).is_defined()) << text;
    EXPECT_EQ(parse_one(text).argument, "bia") << text;
  }
}

TEST(MemoryDescriptor, NamesWithUnderscores) {
  EXPECT_EQ(fields("src_layer_f32::blocked:abc:f0"), "src_layer|f32||blocked|abc||f0|");
  EXPECT_EQ(fields("diff_src:f32::blocked:ab::f0"), "diff_src|f32||blocked|ab||f0|");
  EXPECT_EQ(fields("src_f8_e5m2::blocked:ab::f0"), "src|f8_e5m2||blocked|ab||f0|");
  EXPECT_EQ(fields("src:f8_e4m3::blocked:ab::f0"), "src|f8_e4m3||blocked|ab||f0|");
}

TEST(MemoryDescriptor, RankOfATag) {
  EXPECT_EQ(parse_one("src_f32::blocked:aBcd16b:f0").rank(), 4U);
  EXPECT_EQ(parse_one("src_f32::blocked:ABcd16b16a:f0").rank(), 4U);
  EXPECT_EQ(parse_one("src:f32::blocked:a::f0").rank(), 1U);
  EXPECT_EQ(parse_one("src:f32:a:any:any::f0").rank(), std::nullopt);
  EXPECT_EQ(parse_one("src_f32::wino::f0").rank(), std::nullopt);
}

TEST(MemoryDescriptor, TagsOfDenseTensors) {
  EXPECT_EQ(plain_tag(4), "abcd");
  EXPECT_EQ(channels_last_tag(4), "acdb");
  EXPECT_EQ(channels_last_tag(2), "ab");
  EXPECT_EQ(swapped_tag(3), "acb");
  EXPECT_EQ(swapped_tag(1), "a");
}

TEST(MemoryDescriptor, WhatIsNoneIsLeftOut) {
  std::vector<MemoryDescriptor> descriptors;
  parse_memory_descriptors("# src_f32::blocked:ab:f0  plain : :: _", descriptors);
  ASSERT_EQ(descriptors.size(), 1U);
  EXPECT_EQ(descriptors[0].argument, "src");
}

}  // namespace
}  // namespace bench
