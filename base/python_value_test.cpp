// SPDX-License-Identifier: Apache-2.0
#include "base/python_value.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(PythonValue, ADictionaryHasItsKeysAsKeywords) {
  const auto value = parse_python_value("{'a': [1, 2], \"b\": (3,), 'c': None, 'd': -1.5}");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->items.size(), 4u);
  EXPECT_EQ(value->items[0].keyword, "a");
  EXPECT_EQ(value->items[0].integers(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(value->items[1].integers(), (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(value->items[2].is("None"));
  EXPECT_EQ(value->items[3].number, -1.5);
}

// Earlier, the string ended at the escaped quote.
TEST(PythonValue, AnEscapedQuoteDoesNotEndAString) {
  const auto value = parse_python_value(R"(['a \'b\' "c"\n\\d\x41', 'e'])");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->items.size(), 2u);
  EXPECT_EQ(value->items[0].text(), "a 'b' \"c\"\n\\d\\x41");
  EXPECT_EQ(value->items[1].text(), "e");
  for (const char* text : {"'", "'a", "'a\\", "'a\\'", "{'a': }", "["})
    EXPECT_FALSE(parse_python_value(text)) << text;
}

}  // namespace
}  // namespace bench
