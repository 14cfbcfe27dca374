// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const std::string text : {"", "plain text", "conv \xc3\xa9 \xe2\x96\x88", "a::b::c", "50 %",
                                 "std::vector<int>", "# heading", "## [x]", "\\x1b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ControlCharactersBecomeVisible) {
  EXPECT_EQ(printable("\x1b[2Jx\r\n\t\x7f"), "\\x1b[2Jx\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  // CSI and OSC as single characters, and NEL.
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x9d\xc2\x85"),
            "\\u009b31m\\u009d\\u0085");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");  // the first character after the range
}

TEST(Printable, BidirectionalOverridesAndLineSeparatorsBecomeVisible) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9"),
            "a\\u202eb\\u202a\\u2066\\u2069");
  EXPECT_EQ(printable("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
  // the characters next to them
  EXPECT_EQ(printable("\xe2\x80\xa7\xe2\x80\xaf"), "\xe2\x80\xa7\xe2\x80\xaf");
}

TEST(Printable, BytesThatAreNotUtf8BecomeVisible) {
  EXPECT_EQ(printable("a\xff\xe2\x82"), "a\\xff\\xe2\\x82");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
}

TEST(Printable, CommandsOfACiAreBroken) {
  EXPECT_EQ(printable("::error::pwn"), "\\x3a:error::pwn");
  EXPECT_EQ(printable("a ::error::pwn"), "a \\x3a:error::pwn");
  EXPECT_EQ(printable("\n::error::pwn\x1b[31m"), "\\x0a::error::pwn\\x1b[31m");
  EXPECT_EQ(printable("x##[error]y"), "x\\x23#[error]y");
  EXPECT_EQ(printable("##vso[task.setvariable]"), "\\x23#vso[task.setvariable]");
  EXPECT_EQ(printable("##teamcity[x]"), "\\x23#teamcity[x]");
}

TEST(Printable, EscapingTwiceChangesNothing) {
  const std::string once = printable("\n::error::pwn\x1b[31m ::x ##[y]\xff\xe2\x80\xae");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, LinesAndTabsStayWhereTextHasLines) {
  EXPECT_EQ(printable_lines("a\tb\n\x1b[1m\n::error::x\n"), "a\tb\n\\x1b[1m\n\\x3a:error::x\n");
  EXPECT_EQ(printable_lines("no end"), "no end");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(Printable, AMessageIsOneLine) {
  std::ostringstream out;
  print_line(out, "bench run: a\n::error::b");
  EXPECT_EQ(out.str(), "bench run: a\\x0a::error::b\n");
}

// CI runners skip Unicode blanks before a command.
TEST(Printable, ACommandBehindABlankBeyondAsciiIsBroken) {
  for (const char* blank : {"\u00a0", "\u3000", "\ufeff", "\u200b"}) {
    EXPECT_EQ(printable(std::string(blank) + "::error::x"), std::string(blank) + "\\x3a:error::x");
  }
}

}  // namespace
}  // namespace bench
