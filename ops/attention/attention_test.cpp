// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention.hpp"

#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("attention");
  ParameterSet set(op.parameters);
  const std::int64_t batch = draw(random, 1, 2), kv_heads = draw(random, 1, 2);
  const std::int64_t kv_len = draw(random, 1, 8);
  const bool causal = draw(random, 0, 1) == 1;
  set.set("batch", batch);
  set.set("heads", kv_heads * draw(random, 1, 2));
  set.set("kv_heads", kv_heads);
  set.set("q_len", draw(random, 1, 6));
  set.set("kv_len", kv_len);
  set.set("head_dim", draw(random, 1, 4));
  set.set("causal", causal);
  if (causal && draw(random, 0, 1) == 1) set.set("window", draw(random, 1, 9));
  if (draw(random, 0, 2) == 0) {
    Dims lengths(static_cast<std::size_t>(batch));
    for (std::int64_t& length : lengths) length = draw(random, 1, kv_len);
    set.set("lengths", lengths);
  }
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// The definition: a loop nest over all pairs, which asks of each whether it counts, adds up
// exponentials without a maximum, and counts what it does.
struct Counted {
  std::vector<double> values;
  std::int64_t pairs = 0;           // pairs of all heads
  std::set<std::size_t> read_keys;  // positions of their first elements
};
Counted walk(const Problem& problem, ReferenceInputs inputs) {
  const ParameterSet& set = problem.parameters;
  const std::int64_t heads = set.count("heads"), kv_heads = set.count("kv_heads");
  const std::int64_t queries = set.count("q_len"), kv_len = set.count("kv_len");
  const auto size = static_cast<std::size_t>(set.count("head_dim"));
  Counted counted;
  for (std::int64_t b = 0; b < set.count("batch"); ++b) {
    const std::int64_t length =
        set.has("lengths") ? set.numbers("lengths")[static_cast<std::size_t>(b)] : kv_len;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t q = 0; q < queries; ++q) {
        const auto query = static_cast<std::size_t>((b * heads + h) * queries + q) * size;
        std::vector<double> sums(size, 0.0);
        double total = 0;
        for (std::int64_t k = 0; k < kv_len; ++k) {
          const std::int64_t position = length - queries + q;
          if (k >= length) continue;
          if (set.flag("causal") && (k > position || k <= position - set.count("window"))) continue;
          const auto key =
              static_cast<std::size_t>((b * kv_heads + h * kv_heads / heads) * kv_len + k) * size;
          ++counted.pairs;
          counted.read_keys.insert(key);
          double score = 0;
          for (std::size_t d = 0; d < size; ++d) score += inputs[0][query + d] * inputs[1][key + d];
          const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
          total += weight;
          for (std::size_t d = 0; d < size; ++d) sums[d] += weight * inputs[2][key + d];
        }
        for (const double sum : sums) counted.values.push_back(total > 0 ? sum / total : 0);
      }
    }
  }
  return counted;
}

TEST(Attention, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const Counted want = walk(problem, inputs);
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    ASSERT_EQ(result.size(), want.values.size());
    for (std::size_t j = 0; j < result.size(); ++j) {
      ASSERT_NEAR(result[j], want.values[j], 1e-12) << problem_tokens(problem);
    }
    const std::int64_t size = problem.parameters.count("head_dim");
    ASSERT_EQ(problem.work.flops, 4 * want.pairs * size) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, want.pairs) << problem_tokens(problem);
    const auto results = static_cast<std::int64_t>(result.size());
    ASSERT_EQ(problem.work.bytes_read,
              2 * (results + 2 * size * static_cast<std::int64_t>(want.read_keys.size())))
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 2 * results) << problem_tokens(problem);
  }
}

TEST(Attention, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

// The weights 1/4 and 3/4: the scores log(1) and log(3) times the root of head_dim.
TEST(Attention, GoldenValues) {
  const double key = std::log(3.0) * 2;
  const Problem problem = op_test::problem("attention", "h1q1k2d4");
  const std::vector<std::vector<double>> inputs = {
      {1, 0, 0, 0}, {0, 5, 5, 5, key, 7, 7, 7}, {4, 8, 0, 1, 0, 4, 4, 1}};
  const auto result = built_in_reference(problem, inputs, 0, {});
  const std::vector<double> want = {1, 5, 3, 1};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(result[i], want[i], 1e-12) << i;
}

TEST(Attention, GoldenWork) {
  // BERT base: 12 heads of 64 elements, 128 positions.
  const Problem bert = op_test::problem("attention", "h12q128d64");
  EXPECT_EQ(bert.work.flops, 4 * 12 * 128 * 128 * 64);
  EXPECT_EQ(bert.work.sfu_ops, 12 * 128 * 128);
  op_test::expect_bytes(bert, 4 * 4 * 12 * 128 * 64);
  // Llama 3 8B: prefill of 512 positions, and one step with 4096 keys in the cache.
  const Problem prefill = op_test::problem("attention", "h32g8q512d128+causal", DataType::bf16);
  EXPECT_EQ(prefill.work.flops, std::int64_t{4} * 32 * 128 * (512 * 513 / 2));
  op_test::expect_bytes(prefill, 2 * (2 * 32 * 512 * 128 + 2 * 8 * 512 * 128));
  const Problem step = op_test::problem("attention", "h32g8q1k4096d128+causal", DataType::bf16);
  EXPECT_EQ(step.work.flops, 4 * 32 * 128 * 4096);
  op_test::expect_bytes(step, 2 * (2 * 32 * 128 + 2 * 8 * 4096 * 128));
}

// In training the forward pass writes one more number per query, which takes one logarithm.
TEST(Attention, GoldenWorkOfTraining) {
  const Problem bert = op_test::problem("attention", "training-h12q128d64");
  EXPECT_EQ(bert.work.flops, 4 * 12 * 128 * 128 * 64);
  EXPECT_EQ(bert.work.sfu_ops, 12 * 128 * 128 + 12 * 128);
  op_test::expect_bytes(bert, 4 * (4 * 12 * 128 * 64 + 12 * 128));
  const Problem gradient =
      op_test::problem("attention", "training-h12q128d64", DataType::f32, Direction::backward_data);
  const Problem alone =
      op_test::problem("attention", "h12q128d64", DataType::f32, Direction::backward_data);
  EXPECT_EQ(gradient.work, alone.work);
}

TEST(Attention, ExplainsItsPairs) {
  const auto formula = [](const char* tokens) {
    const Problem problem = op_test::problem("attention", tokens);
    const Formula& first = problem.formulas.front();
    return first.expression + " = " + first.values + " = " + std::to_string(first.result);
  };
  EXPECT_EQ(formula("b2h1q3k4d1"), "batch*q_len*kv_len = 2*3*4 = 24");
  EXPECT_EQ(formula("b2h1q2k4d1l1x4"), "q_len*sum(lengths) = 2*sum(1x4) = 10");
  EXPECT_EQ(formula("b2h1q3k4d1+causal"),
            "batch * sum over i < q_len of clamp(i + kv_len - q_len + 1, 0, window) = "
            "2 * sum over i < 3 of clamp(i + 4 - 3 + 1, 0, 4) = 18");
  EXPECT_EQ(formula("b2h1q2k4d1l1x4+causal"),
            "sum over l in lengths, i < q_len of clamp(i + l - q_len + 1, 0, window) = "
            "sum over l in 1x4, i < 2 of clamp(i + l - 2 + 1, 0, 4) = 8");
}

TEST(Attention, ImpossibleParametersAreErrors) {
  const auto error = [](const char* tokens) {
    const auto problem = op_test::try_problem("attention", tokens);
    return problem.ok() ? "" : problem.error().what;
  };
  EXPECT_EQ(error("h6g4q2d2"), "`kv_heads` is 4, which does not divide 6 heads");
  EXPECT_EQ(error("h1q9d2w3"), "`window` is 3, but the attention is not causal");
  EXPECT_EQ(error("b2h1q2d2l2"), "`lengths` has 1 lengths, `batch` is 2");
  EXPECT_EQ(error("b2h1q2k5d2l2x6"),
            "`lengths` has the length 6, longer than the 5 keys of `kv_len`");
  EXPECT_THAT(error("h1q4000000000k4000000000d1+causal"), ::testing::HasSubstr("2^63"));
}

TEST(Attention, CallsOfPyTorchHaveWork) {
  const auto work = [](std::string_view name, const std::vector<FrameworkRange::Shape>& inputs) {
    return compute_framework_work({.name = name, .inputs = &inputs}, std::nullopt);
  };
  const std::int64_t flops = 4 * 2 * 12 * 128 * 128 * 64;
  const FrameworkRange::Shape heads = {2, 12, 128, 64}, positions = {2, 128, 12, 64};
  for (const char* name :
       {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention"}) {
    ASSERT_TRUE(work(name, {heads, heads, heads, {}, {}, {}})) << name;
    EXPECT_EQ(work(name, {heads, heads, heads, {}, {}, {}})->flops, flops) << name;
  }
  for (const char* name :
       {"aten::_flash_attention_forward", "aten::_efficient_attention_forward"}) {
    ASSERT_TRUE(work(name, {positions, positions, positions})) << name;
    EXPECT_EQ(work(name, {positions, positions, positions})->flops, flops) << name;
  }
  // Grouped heads; then sizes that do not fit: of values, of heads.
  const char* name = "aten::scaled_dot_product_attention";
  EXPECT_EQ(work(name, {{1, 8, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}})->flops, 4 * 8 * 3 * 5 * 4);
  EXPECT_FALSE(work(name, {{1, 8, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 6}}));
  EXPECT_FALSE(work(name, {{1, 8, 3, 4}, {1, 3, 5, 4}, {1, 3, 5, 4}}));
  EXPECT_FALSE(work(name, {{8, 3, 4}, {8, 5, 4}, {8, 5, 4}}));
}

TEST(Attention, MarkersOfPyProfStateTheMask) {
  const auto work = [](std::int64_t keys, std::int64_t causal) {
    const auto tensor = [](std::int64_t length) {
      FrameworkArgument argument;
      argument.type = "tensor";
      argument.shape = {1, 4, length, 8};
      argument.dtype = "float16";
      return argument;
    };
    FrameworkArgument is_causal;
    is_causal.name = "is_causal";
    is_causal.type = "bool";
    is_causal.numbers = {causal};
    const std::vector<FrameworkArgument> arguments = {tensor(6), tensor(keys), tensor(keys),
                                                      is_causal};
    std::vector<FrameworkRange::Shape> inputs;
    for (const auto& argument : arguments) inputs.push_back(argument.shape);
    return compute_framework_work(
        {.name = "scaled_dot_product_attention", .inputs = &inputs, .arguments = &arguments},
        std::nullopt);
  };
  EXPECT_EQ(work(6, 0)->parameters, "h4q6d8");
  EXPECT_EQ(work(6, 1)->flops, 4 * 4 * 8 * 21);
  EXPECT_EQ(work(9, 0)->flops, 4 * 4 * 8 * 54);
}

}  // namespace
}  // namespace bench::ops
