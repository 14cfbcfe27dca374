// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

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
