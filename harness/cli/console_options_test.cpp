// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/console_options.hpp"

#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace bench {
namespace {

class ConsoleOptionsTest : public testing::Test {
 protected:
  test::FakeClock clock_;
  test::TestEnv environment_{clock_};
  Env& env_ = environment_.env;
};

TEST_F(ConsoleOptionsTest, ATerminalIsFilledAndColoured) {
  env_.out_is_terminal = true;
  env_.terminal_width = 72;
  EXPECT_EQ(console_options(env_).width, 72u);
  EXPECT_EQ(console_options(env_).colour, Colour::on);
}

TEST_F(ConsoleOptionsTest, ATerminalOfUnknownWidthGetsTheUsualOne) {
  env_.out_is_terminal = true;
  EXPECT_EQ(console_options(env_).width, ConsoleOptions{}.width);
}

TEST_F(ConsoleOptionsTest, IntoAPipeNothingIsShortenedOrColoured) {
  env_.terminal_width = 72;  // standard error is still a terminal
  EXPECT_EQ(console_options(env_).width, kUnlimitedWidth);
  EXPECT_EQ(console_options(env_).colour, Colour::off);
}

TEST_F(ConsoleOptionsTest, BlocksNeedATerminalWithUtf8) {
  const auto glyphs_with = [&](const std::map<std::string, std::string>& variables) {
    env_.variable = [variables](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return console_glyphs(env_);
  };
  EXPECT_EQ(glyphs_with({{"LANG", "C.UTF-8"}}), Glyphs::ascii);
  env_.out_is_terminal = true;
  EXPECT_EQ(glyphs_with({{"LANG", "C.UTF-8"}}), Glyphs::blocks);
  EXPECT_EQ(glyphs_with({{"LANG", "de_DE.utf8"}, {"LC_ALL", ""}}), Glyphs::blocks);
  EXPECT_EQ(glyphs_with({{"LANG", "C.UTF-8"}, {"LC_ALL", "C"}}), Glyphs::ascii);
  EXPECT_EQ(glyphs_with({{"LANG", "C.UTF-8"}, {"TERM", "dumb"}}), Glyphs::ascii);
  EXPECT_EQ(glyphs_with({}), Glyphs::ascii);
}

TEST_F(ConsoleOptionsTest, ColumnsSetsTheWidthWhereNoTerminalDoes) {
  const auto with_columns = [&](const std::string& value) {
    env_.variable = [value](const std::string& name) {
      return name == "COLUMNS" ? std::optional<std::string>(value) : std::nullopt;
    };
    return console_options(env_).width;
  };
  EXPECT_EQ(with_columns("80"), 80u);
  EXPECT_EQ(with_columns(""), kUnlimitedWidth);
  EXPECT_EQ(with_columns("0"), kUnlimitedWidth);
  EXPECT_EQ(with_columns("wide"), kUnlimitedWidth);
  env_.out_is_terminal = true;
  EXPECT_EQ(with_columns("80"), 80u);
  env_.terminal_width = 72;
  EXPECT_EQ(with_columns("80"), 72u);
}

TEST_F(ConsoleOptionsTest, AWidthThatNoTableCanBeReadInBecomesAReadableOne) {
  env_.out_is_terminal = true;
  for (const int width : {-1, 0, 1, 39}) {
    env_.terminal_width = width;
    EXPECT_EQ(console_options(env_).width, 40u) << width;
  }
}

TEST_F(ConsoleOptionsTest, LinesArePrintableAndFoldedToTheWidth) {
  const std::string text = "  changed: implementation of the matrix product\x1b[2J; layout\n";
  EXPECT_EQ(format_console_lines(text, env_).find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(format_console_lines(text, env_), '\n'), 1);
  env_.out_is_terminal = true;
  env_.terminal_width = 40;
  EXPECT_EQ(format_console_lines("  changed: implementation of the matrix product; layout\n", env_),
            "  changed: implementation of the matrix\n  product; layout\n");
}

TEST_F(ConsoleOptionsTest, NoColorIsRespected) {
  env_.out_is_terminal = true;
  env_.variable = [](const std::string& name) {
    return name == "NO_COLOR" ? std::optional<std::string>("1") : std::nullopt;
  };
  EXPECT_EQ(console_options(env_).colour, Colour::off);
}

}  // namespace
}  // namespace bench
