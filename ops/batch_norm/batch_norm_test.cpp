// SPDX-License-Identifier: Apache-2.0
// Tests the operator in inference. batch_norm_training_test.cpp tests training and gradients.
#include "ops/batch_norm/batch_norm.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("batch_norm");
  ParameterSet set(op.parameters);
  set.set("n", draw(random, 1, 3));
  set.set("c", draw(random, 1, 5));
  constexpr std::string_view kSizes[] = {"d", "h", "w"};
  for (auto i = static_cast<std::size_t>(draw(random, 0, 2)); i < 3; ++i) {
    set.set(kSizes[i], draw(random, 1, 6));
  }
  if (draw(random, 0, 1) == 1) {
    set.set("epsilon", std::ldexp(1.0, -static_cast<int>(draw(random, 5, 20))));
  }
  for (const char* name : {"scale", "shift"}) {
    if (draw(random, 0, 3) == 0) set.set(name, false);
  }
  Result<Problem> made =
      make_problem({.op = &op, .dtype = DataType::f16, .parameters = set, .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

TEST(BatchNorm, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = batch_norm_reference(problem, inputs, 0, {});
    const std::int64_t images = problem.parameters.count("n");
    const std::int64_t channels = problem.parameters.count("c");
    const std::int64_t plane = problem.tensors[0].elements() / (images * channels);
    const bool has_scale = problem.parameters.flag("scale");
    const bool has_shift = problem.parameters.flag("shift");
    std::int64_t flops = 0;
    std::size_t position = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        const double root = std::sqrt(inputs[2][c] + problem.parameters.real("epsilon"));
        for (std::int64_t s = 0; s < plane; ++s) {
          flops += 2;  // subtraction, division
          double want = (inputs[0][position] - inputs[1][c]) / root;
          if (has_scale) want *= inputs[3][c], ++flops;
          if (has_shift) want += inputs[has_scale ? 4 : 3][c], ++flops;
          EXPECT_NEAR(result[position], want, 1e-12);
          ++position;
        }
      }
    }
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    const std::int64_t vectors = 2 + (has_scale ? 1 : 0) + (has_shift ? 1 : 0);
    ASSERT_EQ(problem.work.bytes_read,
              static_cast<std::int64_t>(position) * 2 + vectors * channels * 4);
    ASSERT_EQ(problem.work.bytes_written, static_cast<std::int64_t>(position) * 2);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(BatchNorm, TokensComeBack) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    op_test::expect_round_trip(random_problem(random));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(BatchNorm, PositionsAgreeWithTheWhole) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    op_test::expect_positions_agree(random_problem(random), random);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(BatchNorm, CanonicalText) {
  EXPECT_EQ(problem_tokens(op_test::problem("batch_norm", "n1c64h56eps1e-5")), "c64h56w56");
  EXPECT_EQ(problem_tokens(op_test::problem("batch_norm", "c64h56eps0.001")), "c64h56w56eps0.001");
  EXPECT_EQ(problem_tokens(op_test::problem("batch_norm", "training-n2c64h56+noshift")),
            "training-n2c64h56w56+noshift");
}

TEST(BatchNorm, TensorsAreWhatLibrariesTake) {
  const Problem problem = op_test::problem("batch_norm", "n2c64h56", DataType::bf16);
  ASSERT_EQ(problem.tensors.size(), 6u);
  EXPECT_EQ(problem.tensors[0].dtype, DataType::bf16);
  for (std::size_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(problem.tensors[i].dtype, DataType::f32);
    EXPECT_EQ(problem.tensors[i].role, TensorRole::weights);
    EXPECT_EQ(problem.tensors[i].dims, Dims{64});
  }
  EXPECT_EQ(problem.tensors[5].dims, (Dims{2, 64, 56, 56}));
}

TEST(BatchNorm, ImpossibleParametersAreNamed) {
  EXPECT_EQ(op_test::try_problem("batch_norm", "h8").error().where, "c");
  EXPECT_EQ(op_test::try_problem("batch_norm", "c8").error().where, "h");
  EXPECT_NE(op_test::try_problem("batch_norm", "c8h8eps0")
                .error()
                .what.find("`epsilon` is 0, expected a number above 0"),
            std::string::npos);
}

}  // namespace
}  // namespace bench::ops
