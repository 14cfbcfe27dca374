// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

std::optional<std::int64_t> value(const std::string& text) {
  const auto parsed = Expression::parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message());
  if (!parsed.ok()) return std::nullopt;
  return parsed->evaluate([](const std::string& name) -> std::optional<std::int64_t> {
    if (name == "n") return 3;
    if (name == "size_bytes") return 40;
    if (name == "big") return INT64_MAX;
    return std::nullopt;
  });
}

TEST(ExpressionTest, Computes) {
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value(" 2*n + 1 "), 7);
  EXPECT_EQ(value("2*(n+1)"), 8);
  EXPECT_EQ(value("10-3-2"), 5);
  EXPECT_EQ(value("24/4/2"), 3);
  EXPECT_EQ(value("-n*-2"), 6);
  EXPECT_EQ(value("size_bytes/8+n*n"), 14);
  EXPECT_EQ(value("--4"), 4);
}

TEST(ExpressionTest, UnknownOrInvalidResultsAreNullopt) {
  EXPECT_EQ(value("m"), std::nullopt);
  EXPECT_EQ(value("0*m"), std::nullopt);
  EXPECT_EQ(value("1/0"), std::nullopt);
  EXPECT_EQ(value("7/2"), std::nullopt);
  EXPECT_EQ(value("big+1"), std::nullopt);
  EXPECT_EQ(value("-big-2"), std::nullopt);
  EXPECT_EQ(value("big*2"), std::nullopt);
  EXPECT_EQ(value("(-big-1)/-1"), std::nullopt);
}

TEST(ExpressionTest, ErrorsReportTheColumn) {
  const std::vector<std::pair<std::string, std::string>> all = {{"", "1"},
                                                                {"2*", "3"},
                                                                {"(1", "3"},
                                                                {"1)", "2"},
                                                                {"2 n", "3"},
                                                                {"2^3", "2"},
                                                                {"9223372036854775808", "1"},
                                                                {"$", "1"},
                                                                {"1 + * 2", "5"}};
  for (const auto& [text, column] : all) {
    const auto parsed = Expression::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().where, column) << text;
  }
  EXPECT_FALSE(Expression::parse(std::string(1000, '(') + "1").ok());
  EXPECT_FALSE(Expression::parse(std::string(1000, '-') + "1").ok());
}

TEST(ExpressionTest, NamesAreListedOnce) {
  const auto parsed = Expression::parse("n*c*n + in.0");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->names(), testing::ElementsAre("n", "c", "in.0"));
}

}  // namespace
}  // namespace bench
