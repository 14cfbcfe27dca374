// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/markup.hpp"

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

}  // namespace
}  // namespace bench
