// SPDX-License-Identifier: Apache-2.0
#include "ops/described_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using testing::HasSubstr;

OperatorDescription description() {
  OperatorDescription op;
  op.name = "axpby";
  op.help = "for a test";
  op.directions = {Direction::forward};
  op.parameters = {
      {"mode", "", ParameterKind::word, "fast", "how", 1, {"fast", "exact"}},
      {"shape", "", ParameterKind::shape, "required", "sizes", 1, {}},
      {"n", "n", ParameterKind::count, "4", "rows", 1, {}},
      {"m", "m", ParameterKind::count, "n", "columns", 1, {}},
      {"k", "k", ParameterKind::count, "optional", "depth", 0, {}},
      {"alpha", "alpha", ParameterKind::real, "0.5", "factor", 1, {}},
      {"bias", "bias", ParameterKind::flag, "false", "adds", 1, {}},
  };
  return op;
}

ParameterSet complete(const std::string& tokens) {
  static const auto kOperator = make_described_operator(description(), {});
  const auto parsed = parse_tokens(kOperator->parameters, tokens);
  EXPECT_TRUE(parsed.ok()) << tokens;
  return *kOperator->complete(parsed->parameters);
}

TEST(DescribedOperatorTest, FillsInFallbacks) {
  EXPECT_TRUE(check_description(description()).ok());
  const ParameterSet set = complete("2x3");
  EXPECT_EQ(set.word("mode"), "fast");
  EXPECT_EQ(set.count("n"), 4);
  EXPECT_EQ(set.count("m"), 4);
  EXPECT_FALSE(set.has("k"));
  EXPECT_EQ(set.real("alpha"), 0.5);
  EXPECT_FALSE(set.flag("bias"));
}

TEST(DescribedOperatorTest, IdsReadBackAsTheyWereWritten) {
  for (const std::string tokens :
       {"2x3", "exact-2x3", "exact-1-n8", "2x3-n8m4k0alpha1e-05+bias", "2x3-m8"}) {
    EXPECT_EQ(format_tokens(complete(tokens)), tokens);
  }
}

TEST(DescribedOperatorTest, MissesWhatIsRequired) {
  const auto op = make_described_operator(description(), {});
  const auto result = op->complete(ParameterSet(op->parameters));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "shape");
}

OperatorDescription description_with(std::vector<ParameterDescription> parameters) {
  OperatorDescription op = description();
  op.parameters = std::move(parameters);
  return op;
}

// Reads the tokens, fills in the defaults, and writes the tokens again.
std::string rewritten(OperatorDescription description, const std::string& tokens) {
  EXPECT_TRUE(check_description(description).ok());
  const auto op = make_described_operator(std::move(description), {});
  const auto parsed = parse_tokens(op->parameters, tokens);
  EXPECT_TRUE(parsed.ok()) << tokens;
  return format_tokens(*op->complete(parsed->parameters));
}

// Regression test: such a default was taken for the axis default of built-in operators, which reads
// the parameter `shape`.
TEST(DescribedOperatorTest, AWordDefaultNamedLastIsAConstant) {
  const OperatorDescription op = description_with({
      {"order", "", ParameterKind::word, "last", "which", 1, {"first", "last"}},
      {"n", "n", ParameterKind::count, "required", "rows", 1, {}},
  });
  EXPECT_EQ(rewritten(op, "last-n2"), "n2");
  EXPECT_EQ(rewritten(op, "first-n2"), "first-n2");
}

// Regression test: such a default was taken for the parameter, which has no value yet.
TEST(DescribedOperatorTest, AWordDefaultMayHaveTheNameOfItsOwnOrALaterParameter) {
  const auto make_op = [](const char* name, const char* fallback) {
    return description_with({
        {name, "", ParameterKind::word, fallback, "how", 1, {"sum", "later"}},
        {"later", "", ParameterKind::word, "b", "what", 1, {"a", "b"}},
        {"n", "n", ParameterKind::count, "required", "rows", 1, {}},
    });
  };
  for (const auto& [name, fallback] : {std::pair("sum", "sum"), std::pair("mode", "later")}) {
    const auto op = make_described_operator(make_op(name, fallback), {});
    ParameterSet given(op->parameters);
    given.set("n", std::int64_t{2});
    const auto set = op->complete(given);
    ASSERT_TRUE(set.ok());
    EXPECT_EQ(set->word(name), fallback);
    EXPECT_EQ(format_tokens(*set), "n2");
  }
  EXPECT_EQ(rewritten(make_op("mode", "later"), "sum-a-n2"), "sum-a-n2");
}

TEST(DescribedOperatorTest, ADefaultFromAnOptionalParameterMayBeMissing) {
  const auto op =
      make_described_operator(description_with({
                                  {"k", "k", ParameterKind::count, "optional", "depth", 1, {}},
                                  {"m", "m", ParameterKind::count, "k", "columns", 1, {}},
                                  {"n", "n", ParameterKind::count, "required", "rows", 1, {}},
                              }),
                              {});
  const auto complete_tokens = [&](const std::string& tokens) {
    return *op->complete(parse_tokens(op->parameters, tokens)->parameters);
  };
  EXPECT_FALSE(complete_tokens("n2").has("m"));
  EXPECT_EQ(format_tokens(complete_tokens("n2")), "n2");
  EXPECT_EQ(complete_tokens("k3n2").count("m"), 3);
  EXPECT_EQ(format_tokens(complete_tokens("k3n2")), "k3n2");
  EXPECT_EQ(format_tokens(complete_tokens("m4n2")), "m4n2");
}

TEST(DescribedOperatorTest, ADefaultFromAnotherParameterMustBeValid) {
  const auto error_of = [](OperatorDescription description, const std::string& tokens) {
    EXPECT_TRUE(check_description(description).ok());
    const auto op = make_described_operator(std::move(description), {});
    const auto result = op->complete(parse_tokens(op->parameters, tokens)->parameters);
    EXPECT_FALSE(result.ok()) << tokens;
    return result.ok() ? Error{} : result.error();
  };
  const Error small = error_of(description_with({
                                   {"n", "n", ParameterKind::count, "required", "rows", 1, {}},
                                   {"m", "m", ParameterKind::count, "n", "columns", 8, {}},
                               }),
                               "n4");
  EXPECT_EQ(small.where, "m");
  EXPECT_EQ(small.what, "`m` is 4, expected an integer >= 8");
  EXPECT_EQ(small.next, "set `m`; its default is the value of `n`");
  const Error unknown =
      error_of(description_with({
                   {"mode", "", ParameterKind::word, "required", "how", 1, {"fast", "exact"}},
                   {"check", "t", ParameterKind::word, "mode", "how", 1, {"exact"}},
               }),
               "fast");
  EXPECT_EQ(unknown.where, "check");
}

// Regression test: the id lacked the word, so it could not be read back.
TEST(DescribedOperatorTest, TheWordRequiredIsInTheIdIfItIsSet) {
  EXPECT_EQ(rewritten(description_with({
                          {"mode", "", ParameterKind::word, "required", "how", 1, {"required"}},
                          {"n", "n", ParameterKind::count, "4", "rows", 1, {}},
                      }),
                      "required-n2"),
            "required-n2");
}

struct Broken {
  void (*change)(OperatorDescription&);
  const char* words;
};

TEST(DescribedOperatorTest, RefusesWhatIdsCouldNotSay) {
  const std::vector<Broken> all = {
      {[](OperatorDescription& op) { op.name = "Axpby"; }, "operator name `Axpby`"},
      {[](OperatorDescription& op) { op.help = ""; }, "has no help"},
      {[](OperatorDescription& op) { op.directions.clear(); }, "has no direction"},
      {[](OperatorDescription& op) { op.parameters[2].name = "m-2"; }, "whose name is not"},
      {[](OperatorDescription& op) { op.parameters[3].name = "n"; }, "`n` twice"},
      {[](OperatorDescription& op) { op.parameters[3].token = "n"; }, "another parameter's token"},
      {[](OperatorDescription& op) { op.parameters[2].token = ""; }, "without a token"},
      {[](OperatorDescription& op) { op.parameters[2].token = "e"; }, "begins with e or x"},
      {[](OperatorDescription& op) { op.parameters[2].token = "N"; }, "lower-case letters"},
      {[](OperatorDescription& op) { op.parameters[2].fallback = "last"; }, "`last`"},
      {[](OperatorDescription& op) { op.parameters[2].fallback = "0"; },
       "`0` is not a valid value"},
      {[](OperatorDescription& op) { op.parameters[2].fallback = "alpha"; },
       "`alpha` is not a valid value"},
      {[](OperatorDescription& op) { op.parameters[3].fallback = "shape"; }, "another kind"},
      {[](OperatorDescription& op) { op.parameters[0].words = {}; }, "without words"},
      {[](OperatorDescription& op) { op.parameters[0].words = {"a-b"}; }, "the word `a-b`"},
      {[](OperatorDescription& op) { op.parameters[6].fallback = "true"; }, "`true`"},
      {[](OperatorDescription& op) { op.parameters[6].fallback = "optional"; }, "of kind flag"},
      {[](OperatorDescription& op) { op.parameters[2].kind = ParameterKind::padding; },
       "only built-in"},
      {[](OperatorDescription& op) {
         op.takes_post_ops = true;
         op.parameters[6].token = "relu";
       },
       "name of a post-op"},
  };
  for (const Broken& broken : all) {
    OperatorDescription op = description();
    broken.change(op);
    const Status status = check_description(op);
    ASSERT_FALSE(status.ok()) << broken.words;
    EXPECT_THAT(status.error().what, HasSubstr(broken.words));
  }
}

}  // namespace
}  // namespace bench::ops
