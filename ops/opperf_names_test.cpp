// SPDX-License-Identifier: Apache-2.0
#include "ops/opperf_names.hpp"

#include "ops/test_support.hpp"
#include "tests/support/generated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctionParameter = "function";

// Returns texts of cases of the operator: its examples and, for operators whose functions take one
// or two shapes, cases of this function.
std::vector<std::string> case_texts(const Operator& op, std::string_view function) {
  if (op.name == "math" || op.name == "pointwise") {
    return {fmt::format("{}-64", function), fmt::format("{}-64-64", function)};
  }
  return {op.examples.begin(), op.examples.end()};
}

// Whether the operator defines this function in a direction, in a floating-point type or integers.
bool is_defined(const Operator& op, std::string_view function, Direction direction) {
  for (const std::string& tokens : case_texts(op, function)) {
    if (!function.empty() && !tokens.starts_with(function)) continue;
    for (const DataType dtype : {DataType::f32, DataType::s8}) {
      if (op_test::try_problem(op.name, tokens, dtype, direction)) return true;
    }
  }
  return false;
}

// As opperf counts: each function of an operator, and each operator without functions. The loops of
// peak do not count.
struct CountedName {
  std::string_view op, function;
};
std::vector<CountedName> counted_names() {
  std::vector<CountedName> names;
  for (const Operator* op : all_operators()) {
    if (op->name == "peak") continue;
    const Parameter* function = find_parameter(op->parameters, kFunctionParameter);
    if (function == nullptr) names.push_back({op->name, {}});
    if (function == nullptr) continue;
    for (const std::string_view word : function->words) names.push_back({op->name, word});
  }
  return names;
}

std::string function_table() {
  std::string text = fmt::format("{} operators and functions:\n\n", counted_names().size());
  text += "| operator | function | directions |\n|---|---|---|\n";
  for (const auto& [name, function] : counted_names()) {
    const Operator& op = *find_operator(name);
    std::string directions;
    for (const Direction direction : op.directions) {
      if (!is_defined(op, function, direction)) continue;
      directions += fmt::format("{}`{}`", directions.empty() ? "" : " ", to_string(direction));
    }
    text += fmt::format("| `{}` | {} | {} |\n", name,
                        function.empty() ? "" : fmt::format("`{}`", function), directions);
  }
  return text;
}

std::string opperf_table() {
  std::string text = "| opperf | case | note |\n|---|---|---|\n";
  for (const OpperfName& row : opperf_names()) {
    const std::string id =
        row.op.empty() ? "none" : fmt::format("`{}/forward/{}`", row.op, row.tokens);
    text += fmt::format("| `{}` | {} | {} |\n", row.name, id, row.note);
  }
  return text;
}

TEST(OpperfNames, AreThoseOfItsResultTablesInOrder) {
  EXPECT_EQ(opperf_names().size(), 114U);
  EXPECT_TRUE(std::ranges::is_sorted(opperf_names(), {}, &OpperfName::name));
}

TEST(OpperfNames, HaveACaseOrTheReasonWhyNot) {
  std::size_t expressed = 0;
  for (const OpperfName& row : opperf_names()) {
    if (row.op.empty()) {
      EXPECT_FALSE(row.note.empty()) << row.name;
      continue;
    }
    const auto problem = op_test::try_problem(row.op, row.tokens);
    ASSERT_TRUE(problem.ok()) << row.name << ": " << problem.error().message();
    EXPECT_EQ(problem_tokens(*problem), row.tokens) << row.name;
    ++expressed;
  }
  EXPECT_GE(expressed, 98U);
}

TEST(OperatorCount, IsThatOfTheComparedBenchmarksAtLeast) {
  EXPECT_GE(counted_names().size(), 120U);
}

TEST(OperatorManualGolden, ItsTablesAreThoseOfTheCode) {
  test::expect_generated("docs/operators.md",
                         {{"functions", function_table()}, {"opperf", opperf_table()}});
}

}  // namespace
}  // namespace bench::ops
