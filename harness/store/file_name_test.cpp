// SPDX-License-Identifier: Apache-2.0
#include "harness/store/baseline_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace bench {
namespace {

using testing::EndsWith;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(StoreNameTest, IdsStayReadable) {
  EXPECT_EQ(store_file_name("conv/forward/c8h8w8k8r3s3p0_1+bias/f32/onednn/cpu/cold_weights"),
            "conv__forward__c8h8w8k8r3s3p0_1+bias__f32__onednn__cpu__cold_weights.jsonl");
  EXPECT_EQ(store_name("icelake-server-2c-2097c0e6"), "icelake-server-2c-2097c0e6");
}

TEST(StoreNameTest, NoTextLeavesTheFolder) {
  EXPECT_EQ(store_name(".."), "%2E.");
  EXPECT_EQ(store_name("."), "%2E");
  EXPECT_EQ(store_name("../../etc/passwd"), "%2E.__..__etc__passwd");
  EXPECT_EQ(store_name("/etc/passwd"), "__etc__passwd");
  EXPECT_EQ(store_name(std::string_view("a\0b", 3)), "a%00b");
  EXPECT_EQ(store_name("a\nb\\c~d\x7f\xff"), "a%0Ab%5Cc%7Ed%7F%FF");
  EXPECT_EQ(store_name(""), "");
}

TEST(StoreNameTest, DifferentTextsHaveDifferentNames) {
  EXPECT_NE(store_name("a/b"), store_name("a__b"));
  EXPECT_EQ(store_name("a__b"), "a%5F%5Fb");
  EXPECT_EQ(store_name("a_/_b"), "a%5F__%5Fb");
  EXPECT_NE(store_name("%2E"), store_name("."));
}

TEST(StoreNameTest, LongTextsAreCutAndToldApartByAHash) {
  const std::string text(201, 'x');
  EXPECT_THAT(store_name(text), MatchesRegex("x{160}~[0-9a-f]{16}"));
  EXPECT_NE(store_name(text), store_name(text + "x"));
  EXPECT_EQ(store_name(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_LE(store_file_name(std::string(100000, '\n')).size(), 255u);
}

// Any bytes give a plain file name, and no two texts give the same one.
TEST(StoreNameTest, RandomTexts) {
  constexpr std::string_view kCharacters("/_.-%aA\n\0~", 10);
  std::mt19937 random(1);
  std::map<std::string, std::string> seen;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned k = random() % 8; k > 0; --k) text += kCharacters[random() % kCharacters.size()];
    const std::string name = store_name(text);
    EXPECT_THAT(name, MatchesRegex("[A-Za-z0-9_+%-]?[A-Za-z0-9._+%-]*"));
    const auto [place, is_new] = seen.emplace(name, text);
    EXPECT_TRUE(is_new || place->second == text) << name;
  }
}

}  // namespace
}  // namespace bench
