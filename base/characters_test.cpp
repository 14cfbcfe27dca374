// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace bench {
namespace {

TEST(Characters, DigitsAreThoseOfAscii) {
  for (const char c : {'0', '5', '9'}) EXPECT_TRUE(is_digit(c)) << c;
  // The characters next to the digits, a letter, and a byte of UTF-8.
  for (const char c : {'/', ':', 'a', '\0', '\xd9'}) EXPECT_FALSE(is_digit(c)) << c;
}

TEST(Characters, WordsAreOfLettersDigitsAndUnderscoresOfAscii) {
  for (const char c : {'a', 'z', 'A', 'Z', '0', '9', '_'}) EXPECT_TRUE(is_word(c)) << c;
  for (const char c : {'@', '[', '`', '{', '-', '.', ' ', '\xe4'}) EXPECT_FALSE(is_word(c)) << c;
  EXPECT_FALSE(is_letter_or_digit('_'));
  EXPECT_FALSE(is_letter('1'));
  EXPECT_FALSE(is_lower('A'));
}

TEST(Characters, OnlyUpperCaseLettersOfAsciiChange) {
  EXPECT_EQ(to_lower('A'), 'a');
  EXPECT_EQ(to_lower('Z'), 'z');
  for (const char c : {'a', '@', '[', '7', '\xc4'}) EXPECT_EQ(to_lower(c), c);
  EXPECT_EQ(lower_case("Max_Pool2D"), "max_pool2d");
}

TEST(Characters, FieldsAreCutOffTheFront) {
  std::string_view text = "a,,b";
  EXPECT_EQ(cut_field(text, ','), "a");
  EXPECT_EQ(cut_field(text, ','), "");
  EXPECT_EQ(text, "b");
  EXPECT_EQ(cut_field(text, ','), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(cut_field(text, ','), "");
}

TEST(Characters, ASeparatorAtTheEndLeavesNothing) {
  std::string_view text = "a:";
  EXPECT_EQ(cut_field(text, ':'), "a");
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace bench
