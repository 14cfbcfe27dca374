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

// Evaluates with shape = [2, 3, 5, 7], axis = 2, flag = 1, function = 'max'.
ExpressionValue any_value(const std::string& text) {
  const auto parsed = Expression::parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message());
  if (!parsed.ok()) return {};
  auto result = parsed->evaluate_any([](const std::string& name) -> std::optional<ExpressionValue> {
    if (name == "shape") return ExpressionValue::of(ExpressionList{{2}, {3}, {5}, {7}});
    if (name == "axis") return ExpressionValue::of(2);
    if (name == "flag") return ExpressionValue::of(1);
    if (name == "function") return ExpressionValue::of(std::string("max"));
    return std::nullopt;
  });
  EXPECT_TRUE(result.ok()) << text << ": " << (result.ok() ? "" : result.error().message());
  return result.ok() ? *std::move(result) : ExpressionValue{};
}

std::optional<std::int64_t> number(const std::string& text) {
  const ExpressionValue value = any_value(text);
  if (value.kind != ExpressionValue::Kind::number || value.numbers.empty()) return std::nullopt;
  return value.numbers.front().value;
}

std::string list(const std::string& text) {
  const ExpressionValue value = any_value(text);
  if (value.kind != ExpressionValue::Kind::list) return "not a list";
  std::string joined;
  for (const ExpressionNumber& item : value.numbers) {
    joined += (joined.empty() ? "" : " ") + std::to_string(item.value.value_or(-1));
    if (!item.origin.empty()) joined.append(":").append(item.origin);
  }
  return joined;
}

TEST(ExpressionTest, ListsAndTheirParts) {
  EXPECT_EQ(list("shape[:axis]"), "2:shape 3:shape");
  EXPECT_EQ(list("shape[axis:]"), "5:shape 7:shape");
  EXPECT_EQ(list("shape[1:3]"), "3:shape 5:shape");
  EXPECT_EQ(list("shape[4:]"), "");
  EXPECT_EQ(list("[axis*2, shape[3:], 1]"), "4:axis 7:shape 1");
  EXPECT_EQ(list("[flag ? [1, 2] : [2, 1], axis > 2 ? 9 : []]"), "1 2");
  EXPECT_EQ(list("reduced(shape, [0, 2])"), "1:shape 3:shape 1:shape 7:shape");
  EXPECT_EQ(list("only(shape, axis)"), "5:shape");
  EXPECT_EQ(list("permuted(shape, [3, 0, 2])"), "7:shape 2:shape 5:shape");
  EXPECT_EQ(list("permuted(shape, [])"), "2:shape 3:shape 5:shape 7:shape");
  EXPECT_EQ(number("prod(shape)"), 210);
  EXPECT_EQ(number("prod(shape[4:])"), 1);
  EXPECT_EQ(number("sum(shape) + rank(shape)"), 21);
  EXPECT_EQ(number("max(shape, 4) - min(axis, 9)"), 5);
  EXPECT_EQ(number("shape[0] + shape[-1]"), 9);
  EXPECT_EQ(number("ascending(shape)"), 1);
  EXPECT_EQ(number("ascending([1, 1])"), 0);
  EXPECT_EQ(number("ascending([2, 1])"), 0);
}

TEST(ExpressionTest, TestsAndChoices) {
  EXPECT_EQ(number("axis < 3 and axis >= 2"), 1);
  EXPECT_EQ(number("not (axis < 3) or flag == 0"), 0);
  EXPECT_EQ(number("function == 'max' ? 1 : 2"), 1);
  EXPECT_EQ(number("function != 'max' ? missing : 2"), 2);  // evaluates only what it takes
  EXPECT_EQ(number("6 + flag - (axis == 2)"), 6);
  EXPECT_EQ(number("shape == [2, 3, 5, 7]"), 1);
  EXPECT_EQ(number("flag ? axis ? 3 : 4 : 5"), 3);
  EXPECT_EQ(number("flag ? 9223372036854775807*2 : 0"), std::nullopt);
}

TEST(ExpressionTest, MistakesAreErrors) {
  const auto error = [](const std::string& text) {
    const auto parsed = Expression::parse(text);
    if (!parsed.ok()) return "parse: " + parsed.error().what;
    const auto result =
        parsed->evaluate_any([](const std::string& name) -> std::optional<ExpressionValue> {
          if (name == "shape") return ExpressionValue::of(ExpressionList{{2}, {3}});
          if (name == "word") return ExpressionValue::of(std::string("max"));
          return std::nullopt;
        });
    return result.ok() ? "" : result.error().what;
  };
  EXPECT_EQ(error("missing + 1"), "the name `missing` is unknown");
  EXPECT_EQ(error("shape + 1"), "`shape` is not a number");
  EXPECT_EQ(error("1 + shape[2]"), "`shape[2]` is outside of the list");
  EXPECT_EQ(error("permuted(shape, [0, 2])"), "`permuted(shape, [0, 2])` is outside of the list");
  EXPECT_EQ(error("shape[2:1]"), "`shape[2:1]` ends before it begins");
  EXPECT_EQ(error("prod(word)"), "`word` is a word, not a number");
  EXPECT_EQ(error("word == 1"), "`word == 1` compares values of two kinds");
  EXPECT_EQ(error("rank(1)"), "`1` is not a list");
  EXPECT_EQ(error("max(shape[2:])"), "`max(shape[2:])` has no elements");
  EXPECT_EQ(error("rank()"), "parse: another number of operands than the function has");
  EXPECT_EQ(error("1 ? 2"), "parse: expected `:`");
  EXPECT_EQ(error("[1, 2"), "parse: expected `,` or `]`");
  EXPECT_EQ(error("shape[1"), "parse: expected `]` or `:`");
  EXPECT_EQ(error("'max"), "parse: expected the end of a word, `'`");
  EXPECT_EQ(error("f(1)"), "parse: expected an operator or the end");
}

TEST(ExpressionTest, NamesAreReplacedInTheText) {
  const auto parsed = Expression::parse("2*(n + c) * n_n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->substitute([](const std::string& name) -> std::optional<std::string> {
    if (name == "n") return "16";
    if (name == "n_n") return "7";
    return std::nullopt;
  }),
            "2*(16 + c) * 7");
}

TEST(ExpressionTest, FormsThatCanBeSolved) {
  EXPECT_EQ(Expression::parse(" shape")->as_name(), "shape");
  EXPECT_EQ(Expression::parse("2*n")->as_name(), std::nullopt);
  const auto parts = Expression::parse("[n, 2*c, w]")->elements();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].as_name(), "n");
  EXPECT_EQ(parts[1].as_name(), std::nullopt);
  EXPECT_EQ(parts[2].as_name(), "w");
  const auto tail = Expression::parse("shape[axis:]")->as_tail();
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->list + tail->start, "shapeaxis");
  EXPECT_FALSE(Expression::parse("shape[1:axis]")->as_tail().has_value());
}

}  // namespace
}  // namespace bench
