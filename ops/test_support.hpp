// SPDX-License-Identifier: Apache-2.0
// Supports tests of operators: creates problems from case-id text and random inputs, and checks
// what must be true for every operator.
#pragma once

#include "ops/fill.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"
#include "ops/problem.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::op_test {

using Random = std::mt19937_64;

// Uniform in [low, high].
inline std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline Result<Problem> try_problem(std::string_view op, std::string_view tokens,
                                   DataType dtype = DataType::f32,
                                   Direction direction = Direction::forward) {
  const Operator* definition = find_operator(op);
  if (definition == nullptr)
    return Error{.what = "unknown operator", .where = std::string(op), .next = {}};
  BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed, parse_problem_tokens(*definition, tokens));
  return make_problem({.op = definition,
                       .direction = direction,
                       .dtype = dtype,
                       .parameters = std::move(parsed.parameters),
                       .post_ops = std::move(parsed.post_ops)});
}

// Fails the test (and throws) if the problem is invalid.
inline Problem problem(std::string_view op, std::string_view tokens, DataType dtype = DataType::f32,
                       Direction direction = Direction::forward) {
  Result<Problem> result = try_problem(op, tokens, dtype, direction);
  if (!result.ok()) ADD_FAILURE() << op << "/" << tokens << ": " << result.error().message();
  return std::move(result).value();
}

inline std::vector<std::vector<double>> random_inputs(const Problem& problem, std::uint64_t seed) {
  std::vector<std::vector<double>> inputs;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    inputs.push_back(random_values(problem, i, seed));
  }
  return inputs;
}

// Checks that parsing the problem's text gives the same problem, and that this has the same text.
inline void expect_round_trip(const Problem& problem) {
  const std::string tokens = problem_tokens(problem);
  const Result<Problem> again =
      try_problem(problem.op->name, tokens, problem.dtype, problem.direction);
  ASSERT_TRUE(again.ok()) << tokens << ": " << again.error().message();
  EXPECT_TRUE(again->parameters == problem.parameters) << tokens;
  EXPECT_EQ(again->post_ops, problem.post_ops) << tokens;
  EXPECT_EQ(problem_tokens(*again), tokens);
}

// Checks for each output that the reference at random positions gives the same numbers as the
// complete reference.
inline void expect_positions_agree(const Problem& problem, Random& random) {
  const std::vector<std::vector<double>> inputs = random_inputs(problem, random());
  for (std::size_t output = 0; problem.input_count() + output < problem.tensors.size(); ++output) {
    const std::vector<double> whole = built_in_reference(problem, inputs, output, {});
    ASSERT_EQ(static_cast<std::int64_t>(whole.size()),
              problem.tensors[problem.input_count() + output].elements());
    std::vector<std::int64_t> positions;
    for (int i = 0; i < 16; ++i) {
      positions.push_back(draw(random, 0, static_cast<std::int64_t>(whole.size()) - 1));
    }
    const std::vector<double> part = built_in_reference(problem, inputs, output, positions);
    ASSERT_EQ(part.size(), positions.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(part[i], whole[static_cast<std::size_t>(positions[i])]) << problem_tokens(problem);
    }
  }
}

// Checks `count` problems that random_problem(random) makes: their texts come back, and the
// reference at some positions agrees with the whole.
template <class RandomProblem>
void expect_texts_and_positions(RandomProblem random_problem, std::uint64_t seed, int count) {
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const Problem problem = random_problem(random);
    expect_round_trip(problem);
    expect_positions_agree(problem, random);
    if (::testing::Test::HasFailure()) return;
  }
}

// Checks the bytes that the problem reads and writes by the work model against `total`.
inline void expect_bytes(const Problem& problem, std::int64_t total) {
  EXPECT_EQ(problem.work.bytes_read + problem.work.bytes_written, total) << problem_tokens(problem);
}

}  // namespace bench::ops::op_test
