// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("rms_norm");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 6);
  set.set("shape", shape);
  if (draw(random, 0, 1) == 1) {
    set.set("axis", draw(random, 0, static_cast<std::int64_t>(shape.size()) - 1));
  }
  if (draw(random, 0, 1) == 1) set.set("epsilon", 0.125);
  if (draw(random, 0, 1) == 1) set.set("scale", draw(random, 0, 1) == 1);
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the dimensions and counts what it does.
TEST(RmsNorm, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    std::size_t groups = 1, size = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      (d < axis ? groups : size) *= static_cast<std::size_t>(shape[d]);
    }
    const bool scale = problem.parameters.flag("scale");
    std::int64_t flops = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      double squares = 0;
      for (std::size_t k = 0; k < size; ++k) {
        squares += inputs[0][g * size + k] * inputs[0][g * size + k];
        flops += 2;  // square, sum
      }
      const double mean_square = squares / static_cast<double>(size);
      for (std::size_t k = 0; k < size; ++k) {
        double want =
            inputs[0][g * size + k] / std::sqrt(mean_square + problem.parameters.real("epsilon"));
        ++flops;
        if (scale) want *= inputs[1][k], ++flops;
        EXPECT_NEAR(result[g * size + k], want, 1e-9);
      }
    }
    const auto count = static_cast<std::int64_t>(groups * size);
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read,
              2 * count + (scale ? 4 * static_cast<std::int64_t>(size) : 0));
    ASSERT_EQ(problem.work.bytes_written, 2 * count);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(RmsNorm, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

TEST(RmsNorm, GoldenValues) {
  const Problem problem = op_test::problem("rms_norm", "2x2-eps1e-30+noscale");
  const std::vector<std::vector<double>> inputs = {{3, 3, -1, 7}};
  EXPECT_THAT(built_in_reference(problem, inputs, 0, {}),
              ::testing::ElementsAre(1, 1, -0.2, 1.4));  // roots of 9 and 25
  const Problem llama = op_test::problem("rms_norm", "512x4096", DataType::bf16);
  EXPECT_EQ(llama.work.flops, 4 * 512 * 4096);
  op_test::expect_bytes(llama, 2 * 2 * 512 * 4096 + 4 * 4096);
}

// "rms_norm/1x512x4096/f32 8388608 FLOP": rms_norm(input, normalized_shape, weight, eps).
TEST(RmsNorm, CallsOfPyTorchHaveWork) {
  const auto work = [](const std::vector<FrameworkRange::Shape>& inputs) {
    return compute_framework_work({.name = "aten::rms_norm", .inputs = &inputs}, std::nullopt);
  };
  EXPECT_EQ(work({{1, 512, 4096}, {}, {4096}, {}})->flops, 4 * 512 * 4096);
  EXPECT_EQ(work({{1, 512, 4096}, {}, {}, {}})->flops, 3 * 512 * 4096);
  EXPECT_FALSE(work({{1, 512, 4096}, {}, {512}, {}}).has_value());  // does not fit
}

}  // namespace
}  // namespace bench::ops
