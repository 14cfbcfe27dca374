// SPDX-License-Identifier: Apache-2.0
#include "base/quote.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(Quote, KeepsAShortTextOnOneLine) {
  EXPECT_EQ(quote("bf15"), "`bf15`");
  EXPECT_EQ(quote(""), "``");
  EXPECT_EQ(quote("a\nb\tc\rd"), "`a b c d`");
  EXPECT_EQ(quote(std::string(kMaxQuote, 'x')), "`" + std::string(kMaxQuote, 'x') + "`");
}

TEST(Quote, CutsALongTextAfterAWholeCharacter) {
  EXPECT_EQ(quote(std::string(100000, 'x')), "`" + std::string(kMaxQuote, 'x') + "...`");
  EXPECT_EQ(quote("abc", 2), "`ab...`");
  EXPECT_EQ(quote("a\u00e9", 2), "`a...`");
}

TEST(ShellQuoted, QuotesOnlyWhatAShellWouldReadOtherwise) {
  EXPECT_EQ(shell_quoted("../main/bench"), "../main/bench");
  EXPECT_EQ(shell_quoted("LD_LIBRARY_PATH=/opt/a:b"), "LD_LIBRARY_PATH=/opt/a:b");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("two words"), "'two words'");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(ShellVariables, PrecedeTheCommand) {
  EXPECT_EQ(shell_variables({}), "");
  EXPECT_EQ(shell_variables({{"A", "two words"}, {"B", "1"}}), "env 'A=two words' B=1 ");
}

}  // namespace
}  // namespace bench
