// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/delimited.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;

std::vector<std::string> split_valid(std::string_view line, Delimiter delimiter) {
  std::vector<std::string> fields = {"left over", "from", "a", "longer", "line"};
  EXPECT_TRUE(split_fields(line, delimiter, fields)) << line;
  return fields;
}

TEST(Delimited, TheHeaderTellsTheDelimiter) {
  EXPECT_EQ(detect_delimiter("a\tb, c"), Delimiter::tab);
  EXPECT_EQ(detect_delimiter("\"a b\",c"), Delimiter::comma);
  EXPECT_EQ(detect_delimiter("a b  c"), Delimiter::blank);
}

TEST(Delimited, BlanksInAnyNumberStandBetweenFields) {
  EXPECT_THAT(split_valid("  a  b,c\t d ", Delimiter::blank), ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(split_valid("", Delimiter::blank), ElementsAre());
}

TEST(Delimited, EachTabEndsAField) {
  EXPECT_THAT(split_valid("a b\t\tc\t", Delimiter::tab), ElementsAre("a b", "", "c", ""));
}

TEST(Delimited, QuotesHoldCommasAndDoubledQuotes) {
  EXPECT_THAT(split_valid(R"(a,"b,""c""",,"",d e)", Delimiter::comma),
              ElementsAre("a", "b,\"c\"", "", "", "d e"));
}

TEST(Delimited, AQuoteThatIsNotClosedOrNotAloneIsAFault) {
  std::vector<std::string> fields;
  EXPECT_FALSE(split_fields(R"(a,"b)", Delimiter::comma, fields));
  EXPECT_FALSE(split_fields(R"(a,"b"c,d)", Delimiter::comma, fields));
  EXPECT_FALSE(split_fields(R"("a"")", Delimiter::comma, fields));
}

}  // namespace
}  // namespace bench
