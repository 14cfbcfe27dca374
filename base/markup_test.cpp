// SPDX-License-Identifier: Apache-2.0
#include "base/markup.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Markup, NothingCanLeaveItsElementOrAttribute) {
  EXPECT_EQ(escape_markup("</title><script>\"x\" & 'y'"),
            "&lt;/title&gt;&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;");
  EXPECT_EQ(escape_markup("plain \u00e9"), "plain \u00e9");
}

TEST(Markup, WhatXmlCannotHoldIsReplaced) {
  EXPECT_EQ(escape_markup("a\x01\x1f\x7f"), "a\ufffd\ufffd\ufffd");
  EXPECT_EQ(escape_markup("a\xff"), "a\ufffd");
  EXPECT_EQ(escape_markup("a\xef\xbf\xbe"), "a\ufffd");
  EXPECT_EQ(escape_markup("a\u009b\u202e\u00a0"), "a\ufffd\ufffd\u00a0");
  EXPECT_EQ(escape_markup("a\nb\tc"), "a&#10;b&#9;c");
}

TEST(Markdown, LeavesTheNamesOfCasesReadable) {
  EXPECT_EQ(escape_markdown("conv/forward/n1c64+bias/f32"), "conv/forward/n1c64+bias/f32");
  EXPECT_EQ(escape_markdown("na\xc3\xafve -5.1%"), "na\xc3\xafve -5.1%");
}

TEST(Markdown, NothingBecomesMarkup) {
  EXPECT_EQ(escape_markdown("a|b\\|c"), "a\\|b\\\\\\|c");
  EXPECT_EQ(escape_markdown("<img src=x> &lt;"), "&lt;img src=x> &amp;lt;");
  EXPECT_EQ(escape_markdown("**x** _y_ ~~z~~ `q` [t](u)"),
            "\\*\\*x\\*\\* \\_y\\_ \\~\\~z\\~\\~ \\`q\\` \\[t\\](u)");
}

TEST(Markdown, NothingEndsTheLine) {
  EXPECT_EQ(escape_markdown("a\r\nb\tc\x1b[1m\x7f"), "a  b c\\\\x1b\\[1m\\\\x7f");
}

TEST(Markdown, WhatIsNoUtf8IsAVisibleEscape) {
  EXPECT_EQ(escape_markdown("a\xff\xc2\x9b"), "a\\\\xff\\\\u009b");
}

// Notes showed backticks behind backslashes.
TEST(Markdown, TextBetweenBackticksOfASentenceIsCode) {
  EXPECT_EQ(markdown_sentence("use `bench peak <x>` or `--set a=1`; 5 * 6"),
            "use <code>" + escape_markdown("bench peak <x>") + "</code> or <code>" +
                escape_markdown("--set a=1") + "</code>" + escape_markdown("; 5 * 6"));
  EXPECT_EQ(markdown_sentence("one ` alone"), escape_markdown("one ` alone"));
  EXPECT_EQ(markdown_sentence(""), "");
}

TEST(Markdown, CodeIsEscapedToo) {
  EXPECT_EQ(markdown_code("bench '</code>|'"), "<code>bench '&lt;/code>\\|'</code>");
}

}  // namespace
}  // namespace bench
