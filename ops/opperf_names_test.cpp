// SPDX-License-Identifier: Apache-2.0
#include "ops/opperf_names.hpp"

#include "ops/test_support.hpp"
#include "tests/support/generated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctionParameter = "function";

// Returns an example of the operator with this function, in a direction; nullopt if the operator
// does not define it.
std::optional<Problem> try_function(const Operator& op, std::string_view function,
                                    Direction direction) {
  for (const std::string_view tokens : op.examples) {
    const auto example = op_test::try_problem(op.name, tokens);
    if (!example) continue;
    ParameterSet set = example->parameters;
    if (!function.empty()) {
      if (set.word(kFunctionParameter) != function && op.name != "math") continue;
      set.set(kFunctionParameter, std::string(function));
      if (op.name == "math") set.set("alpha", std::monostate{});
    }
    for (const DataType dtype : {DataType::f32, DataType::s8}) {
      Result<Problem> problem =
          make_problem({.op = &op, .direction = direction, .dtype = dtype, .parameters = set});
      if (problem) return *std::move(problem);
    }
  }
  return std::nullopt;
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
      const bool is_defined = function.empty() || name == "pointwise" || name == "pool"
                                  ? true
                                  : try_function(op, function, direction).has_value();
      if (!is_defined) continue;
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
