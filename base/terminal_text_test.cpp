// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Wrap, WordsWithinTheWidth) {
  EXPECT_EQ(wrap("", 10, 0), "");
  EXPECT_EQ(wrap("  ", 10, 2), "");
  EXPECT_EQ(wrap("one two three", 8, 0), "one two\nthree\n");
  EXPECT_EQ(wrap("one  two", 8, 2), "  one\n  two\n");
  EXPECT_EQ(wrap("incomprehensibilities", 10, 0), "incomprehe\nnsibilitie\ns\n");
  EXPECT_EQ(wrap("a incomprehensible word", 10, 2), "  a\n  incompre\n  hensible\n  word\n");
}

// A line began with "%)." below the number that the sign belongs to.
TEST(Wrap, APercentSignStaysBesideItsNumber) {
  EXPECT_EQ(wrap("changed by 3.0 %.", 14, 0), "changed by\n3.0 %.\n");
  EXPECT_EQ(wrap("% of 5 % (6 %)", 9, 0), "% of 5 %\n(6 %)\n");
}

TEST(FoldLines, WhatIsTooLongGoesOnBelowItsLastColumn) {
  EXPECT_EQ(fold_lines("ok      oneDNN  3.2.0 with two threads here\nshort\n", 34),
            "ok      oneDNN  3.2.0 with two\n"
            "                threads here\n"
            "short\n");
  EXPECT_EQ(fold_lines("no columns at all in it", 10), "no columns\nat all in\nit\n");
  EXPECT_EQ(fold_lines("", 10), "");
}

TEST(Paint, PlainWithoutColour) {
  EXPECT_EQ(paint("x", Tone::bad, Colour::off), "x");
  EXPECT_EQ(paint("x", Tone::plain, Colour::on), "x");
  EXPECT_EQ(paint("", Tone::bad, Colour::on), "");
  EXPECT_EQ(paint("x", Tone::warning, Colour::on), "\x1b[33mx\x1b[0m");
}

}  // namespace
}  // namespace bench
