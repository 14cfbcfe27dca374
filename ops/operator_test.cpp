// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <set>

namespace bench::ops {
namespace {

TEST(FindOperator, KnowsNamesAndTheAlias) {
  ASSERT_NE(find_operator("conv"), nullptr);
  EXPECT_EQ(find_operator("conv")->name, "conv");
  EXPECT_EQ(find_operator("inner_product"), find_operator("gemm"));
  EXPECT_EQ(find_operator("convolution"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

TEST(AllOperators, AreFoundByTheirNames) {
  ASSERT_EQ(operator_names().size(), all_operators().size());
  for (const std::string_view name : operator_names()) EXPECT_EQ(find_operator(name)->name, name);
}

// Properties of the tables that case ids and the manual rely on.
TEST(AllOperators, HaveUnambiguousParameterTables) {
  for (const Operator* op : all_operators()) {
    std::set<std::string_view> names;
    std::set<std::string_view> tokens;
    for (const Parameter& parameter : op->parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << op->name << " " << parameter.name;
      EXPECT_FALSE(parameter.help.empty()) << op->name << " " << parameter.name;
      EXPECT_FALSE(parameter.fallback.empty()) << op->name << " " << parameter.name;
      if (!parameter.token.empty()) {
        EXPECT_TRUE(tokens.insert(parameter.token).second) << op->name << " " << parameter.token;
      }
      EXPECT_EQ(parameter.kind == ParameterKind::word, !parameter.words.empty()) << parameter.name;
    }
    EXPECT_FALSE(op->help.empty());
    EXPECT_FALSE(op->directions.empty());
  }
}

// Checks of backends sweep over the examples: an operator without any would never be checked.
TEST(AllOperators, HaveExamplesWhoseTokensComeBack) {
  for (const Operator* op : all_operators()) {
    EXPECT_FALSE(op->examples.empty()) << op->name;
    for (const std::string_view tokens : op->examples) {
      const auto problem = op_test::try_problem(op->name, tokens);
      ASSERT_TRUE(problem.ok()) << op->name << " " << tokens << ": " << problem.error().message();
      op_test::expect_round_trip(*problem);
    }
  }
}

}  // namespace
}  // namespace bench::ops
