// SPDX-License-Identifier: Apache-2.0
#include "base/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns "2:text" for complete lines, and "2~text" for an incomplete one.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const NumberedLine& line : Lines(text))
    lines.push_back(std::to_string(line.number) + (line.incomplete_line ? "~" : ":") +
                    std::string(line.text));
  return lines;
}

TEST(LinesTest, AreCountedFromOne) { EXPECT_THAT(lines_of("a\nbc\n"), ElementsAre("1:a", "2:bc")); }

TEST(LinesTest, ALastOneWithoutNewlineIsTorn) {
  EXPECT_THAT(lines_of("a\nb"), ElementsAre("1:a", "2~b"));
  EXPECT_THAT(lines_of("a"), ElementsAre("1~a"));
}

TEST(LinesTest, EmptyOnesCount) {
  EXPECT_THAT(lines_of("\n\na\n\n"), ElementsAre("1:", "2:", "3:a", "4:"));
}

TEST(LinesTest, AnEmptyTextHasNone) { EXPECT_THAT(lines_of(""), IsEmpty()); }

TEST(LinesTest, CarriageReturnsStay) {
  EXPECT_THAT(lines_of("a\r\nb\rc"), ElementsAre("1:a\r", "2~b\rc"));
}

TEST(LinesTest, WhatIsBlank) {
  for (const char* blank : {"", " ", "\t\r\f\v "}) EXPECT_TRUE(is_blank(blank));
  for (const char* text : {"a", " a", ".\r"}) EXPECT_FALSE(is_blank(text));
}

}  // namespace
}  // namespace bench
