// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"

#include "ops/network/network_steps.hpp"
#include "ops/tensor.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(DescriptionTest, EveryDescriptionCompilesAndItsExamplesAreProblems) {
  int described = 0;
  for (const Operator* op : all_operators()) {
    if (op->description == nullptr) continue;
    ++described;
    const auto compiled = CompiledDescription::compile(op->description->description());
    ASSERT_TRUE(compiled.ok()) << op->name << ": " << compiled.error().message();
    EXPECT_FALSE(op->examples.empty()) << op->name;
    for (const std::string_view example : op->examples) {
      op_test::expect_round_trip(op_test::problem(op->name, example));
    }
    for (const Requirement& row : op->description->description().requirements) {
      EXPECT_TRUE(row.where == "dtype" || find_parameter(op->parameters, row.where) != nullptr)
          << op->name;
    }
    EXPECT_NE(find_parameter(op->parameters, op->description->description().where), nullptr);
    for (const TensorRow& row : op->description->description().tensors) {
      const bool is_index = row.type == ElementType::index;
      const Tensor tensor{
          std::string(row.name), row.role, is_index ? DataType::s32 : DataType::f32, {}, 0};
      EXPECT_EQ(holds_indices(tensor), is_index) << op->name << " " << row.name;
      EXPECT_EQ(row.below.empty(), !is_index) << op->name << " " << row.name;
    }
  }
  EXPECT_GE(described, 6);
}

// An operator with a tensor that a flag adds, a word in a condition, and a count of its own.
constexpr std::string_view kWords[] = {"one", "two"};
constexpr Parameter kParameters[] = {
    {"n", "n", ParameterKind::count, kRequired, "rows"},
    {"c", "c", ParameterKind::count, kRequired, "columns"},
    {"g", "g", ParameterKind::count, "c", "groups"},
    {"function", "", ParameterKind::word, "one", "how often", 1, kWords},
    {"bias", "bias", ParameterKind::flag, "false", "adds a row"},
};
constexpr Requirement kRequirements[] = {
    {"c/g*g == c", "g", "`g` is {g}, which does not divide the {c} columns", "set it to {c}"},
};
// 1 + 2 + ... + n; nullopt for large n.
std::optional<std::int64_t> sum_up(const ParameterSet& set) {
  std::int64_t sum = 0;
  for (std::int64_t i = 1; i <= set.count("n"); ++i) sum += i;
  return set.count("n") < 1000 ? std::optional(sum) : std::nullopt;
}
constexpr Quantity kQuantities[] = {
    {"elements", "n*c", Quantity::Shown::no},
    {"flops", "elements", Quantity::Shown::yes, "function == 'one'"},
    {"flops", "{1 + 1}*elements + c", Quantity::Shown::yes, "function == 'two'"},
    {"sum", "sum over i <= {n} of i", Quantity::Shown::yes, "bias", sum_up},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[n, c]"},
    {"bias", TensorRole::weights, "[c]", ElementType::statistic, "bias"},
    {"destination", TensorRole::output, "[n, 2*c]", ElementType::of_case, {}, "elements"},
};
constexpr FrameworkFunction kFunctions[] = {{"f", "source _ bias"},
                                            {"g", "source", "function=two"}};
constexpr Description kDescription = {.name = "toy",
                                      .help = "for tests",
                                      .parameters = kParameters,
                                      .requirements = kRequirements,
                                      .quantities = kQuantities,
                                      .tensors = kTensors,
                                      .where = "c",
                                      .framework = kFunctions};

class DescribedToy : public ::testing::Test {
 protected:
  Result<Problem> make(std::string_view tokens) {
    BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed, parse_problem_tokens(op_, tokens));
    return make_problem({.op = &op_, .parameters = std::move(parsed.parameters)});
  }
  Operator op_ = describe(kDescription, {});
};

TEST_F(DescribedToy, TensorsWorkAndFormulasFollow) {
  const auto problem = make("two-n3c4+bias");
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  EXPECT_EQ(problem_tokens(*problem), "two-n3c4+bias");
  ASSERT_EQ(problem->tensors.size(), 3U);
  EXPECT_THAT(problem->tensors[1].dims, ElementsAre(4));
  EXPECT_THAT(problem->tensors[2].dims, ElementsAre(3, 8));
  EXPECT_EQ(problem->tensors[2].touched, 12);
  EXPECT_EQ(problem->work.flops, 28);
  EXPECT_EQ(problem->work.flops_valid, 28);
  EXPECT_EQ(problem->formulas[0].expression, "2*elements + c");
  EXPECT_EQ(problem->formulas[0].values, "2*12 + 4");
  EXPECT_EQ(make("n3c4")->work.flops, 12);
  EXPECT_EQ(make("n3c4")->tensors.size(), 2U);
  EXPECT_EQ(quantity(*problem, "elements"), 12);
}

TEST_F(DescribedToy, AFunctionComputesAQuantity) {
  const auto problem = make("n3c4+bias");
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  EXPECT_EQ(quantity(*problem, "sum"), 6);
  EXPECT_EQ(problem->formulas[1].expression, "sum over i <= n of i");
  EXPECT_EQ(problem->formulas[1].values, "sum over i <= 3 of i");
  EXPECT_EQ(problem->formulas[1].result, 6);
  const auto huge = make("n1000c1+bias");
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().where, "c");
}

TEST_F(DescribedToy, ErrorsNameTheParameter) {
  EXPECT_EQ(make("c4").error().what, "`n` is missing");
  const auto uneven = make("n3c4g3");
  ASSERT_FALSE(uneven.ok());
  EXPECT_EQ(uneven.error().what, "`g` is 3, which does not divide the 4 columns");
  EXPECT_EQ(uneven.error().where, "g");
  EXPECT_EQ(uneven.error().next, "set it to 4");
  const auto huge = make("n4294967296c4294967296");
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().where, "c");
  EXPECT_EQ(make("n1c9223372036854775807").error().where, "c");
}

TEST_F(DescribedToy, SizesOfALayerFollowFromItsInputs) {
  const std::array<Dims, 1> inputs = {Dims{5, 7}};
  const auto set = infer_parameters(op_, ParameterSet(op_.parameters), inputs);
  ASSERT_TRUE(set.ok()) << set.error().message();
  EXPECT_EQ(set->count("n"), 5);
  EXPECT_EQ(set->count("c"), 7);
  ParameterSet written(op_.parameters);
  written.set("c", std::int64_t{6});
  EXPECT_EQ(infer_parameters(op_, written, inputs).error().what,
            "`c` is 6, but the layer's input makes it 7");
  const std::array<Dims, 1> flat = {Dims{5}};
  EXPECT_FALSE(infer_parameters(op_, ParameterSet(op_.parameters), flat).ok());
  EXPECT_EQ(infer_parameters(op_, ParameterSet(op_.parameters), {}).error().what,
            "the layer has 0 inputs, expected 1");
}

TEST_F(DescribedToy, CallsOfAFrameworkAreSolved) {
  const auto solve = [&](const FrameworkFunction& function, std::vector<Dims> arguments) {
    return solve_framework_call(op_, function, arguments);
  };
  const auto with_bias = solve(kFunctions[0], {{3, 4}, {}, {4}});
  ASSERT_TRUE(with_bias.has_value());
  EXPECT_TRUE(with_bias->parameters.flag("bias"));
  EXPECT_FALSE(solve(kFunctions[0], {{3, 4}})->parameters.flag("bias"));
  EXPECT_EQ(solve(kFunctions[1], {{3, 4}})->parameters.word("function"), "two");
  EXPECT_FALSE(solve(kFunctions[0], {{3, 4}, {}, {5}}).has_value());  // does not fit
  EXPECT_FALSE(solve(kFunctions[0], {{}}).has_value());               // no source
  EXPECT_FALSE(solve(kFunctions[0], {{3, 4, 5}}).has_value());
}

TEST(DescriptionTest, MistakesInADescriptionAreErrors) {
  constexpr Quantity kUnknownName[] = {{"flops", "n*m"}};
  constexpr Quantity kUnfinished[] = {{"flops", "n*"}};
  constexpr Quantity kUnknownText[] = {{"flops", "of {m}", Quantity::Shown::yes, "", sum_up}};
  constexpr Quantity kLaterName[] = {{"flops", "size"}, {"size", "n"}};
  const auto error = [](std::span<const Quantity> quantities) {
    Description description = kDescription;
    description.quantities = quantities;
    description.tensors = {};
    const auto compiled = CompiledDescription::compile(description);
    return compiled.ok() ? "" : compiled.error().what;
  };
  EXPECT_EQ(error(kUnknownName), "`m` in `n*m` is neither a parameter nor an earlier quantity");
  EXPECT_EQ(error(kUnknownText), "`m` in `m` is neither a parameter nor an earlier quantity");
  EXPECT_EQ(error(kUnfinished), "expected a number, a name or `(`");
  EXPECT_EQ(error(kLaterName), "`size` in `size` is neither a parameter nor an earlier quantity");
}

}  // namespace
}  // namespace bench::ops
