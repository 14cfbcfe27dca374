// SPDX-License-Identifier: Apache-2.0
#include "ops/grouped_gemm/grouped_gemm.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace bench::ops::op_test {
namespace {

Problem random_grouped(Random& random) {
  ParameterSet set(grouped_gemm_operator.parameters);
  Dims groups;
  for (std::int64_t i = draw(random, 1, 5); i > 0; --i) groups.push_back(draw(random, 1, 9));
  set.set("groups", groups);
  for (const char* name : {"n", "k"}) set.set(name, draw(random, 1, 9));
  for (const char* name : {"trans_b", "bias"}) set.set(name, draw(random, 0, 1) == 1);
  return make_problem({.op = &grouped_gemm_operator, .parameters = set}).value();
}

// Calls visit(group, row, column, source, weights, destination), the last three flat indexes, for
// each multiply-accumulate.
template <class Visit>
void for_each_grouped_product(const Problem& problem, Visit visit) {
  const ParameterSet& p = problem.parameters;
  const std::int64_t columns = p.count("n"), depth = p.count("k");
  std::int64_t row = 0, group = 0;
  for (const std::int64_t rows : p.numbers("groups")) {
    for (const std::int64_t end = row + rows; row < end; ++row) {
      for (std::int64_t n = 0; n < columns; ++n) {
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::int64_t w = p.flag("trans_b") ? n * depth + k : k * columns + n;
          visit(static_cast<std::size_t>(group * columns + n),
                static_cast<std::size_t>(row * depth + k),
                static_cast<std::size_t>(group * depth * columns + w),
                static_cast<std::size_t>(row * columns + n));
        }
      }
    }
    ++group;
  }
}

TEST(GroupedGemm, WorkAndReferenceEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Problem grouped = random_grouped(random);
    SCOPED_TRACE(problem_tokens(grouped));
    const auto inputs = random_inputs(grouped, random());
    std::vector<double> want(static_cast<std::size_t>(grouped.tensors.back().elements()));
    std::vector<std::size_t> bias(want.size());
    std::int64_t macs = 0;
    for_each_grouped_product(
        grouped, [&](std::size_t b, std::size_t source, std::size_t weights, std::size_t result) {
          ++macs;
          want[result] += inputs[0][source] * inputs[1][weights];
          bias[result] = b;
        });
    const bool has_bias = grouped.parameters.flag("bias");
    for (std::size_t j = 0; j < want.size() && has_bias; ++j) want[j] += inputs[2][bias[j]];
    ASSERT_EQ(grouped.work.macs, macs);
    ASSERT_EQ(grouped.work.flops,
              2 * macs + (has_bias ? static_cast<std::int64_t>(want.size()) : 0));
    std::size_t elements = want.size();
    for (const auto& input : inputs) elements += input.size();
    expect_bytes(grouped, 4 * static_cast<std::int64_t>(elements));
    std::vector<std::int64_t> positions(want.size());
    std::iota(positions.rbegin(), positions.rend(), std::int64_t{0});
    const std::vector<double> whole = built_in_reference(grouped, inputs, 0, {});
    const std::vector<double> single = built_in_reference(grouped, inputs, 0, positions);
    for (std::size_t j = 0; j < want.size(); ++j) {
      ASSERT_NEAR(whole[j], want[j], 1e-13) << j;
      ASSERT_NEAR(single[want.size() - 1 - j], want[j], 1e-13) << j;
    }
    if (i < 1000) expect_round_trip(grouped);
  }
}

void expect_values(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-13) << i;
}

TEST(GroupedGemm, GradientsEqualALoopNest) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const Problem forward = random_grouped(random);
    SCOPED_TRACE(problem_tokens(forward));
    const auto gradient = [&](Direction direction) {
      return make_problem({.op = &grouped_gemm_operator,
                           .direction = direction,
                           .parameters = forward.parameters})
          .value();
    };
    const Problem data = gradient(Direction::backward_data);
    const Problem weights = gradient(Direction::backward_weights);
    const auto forward_inputs = random_inputs(forward, random());
    const auto& source = forward_inputs[0];
    const auto& matrices = forward_inputs[1];
    const auto diff = random_inputs(data, random())[0];
    std::vector<double> diff_source(source.size()), diff_weights(matrices.size());
    std::int64_t macs = 0;
    for_each_grouped_product(forward,
                             [&](std::size_t, std::size_t s, std::size_t w, std::size_t result) {
                               ++macs;
                               diff_source[s] += diff[result] * matrices[w];
                               diff_weights[w] += diff[result] * source[s];
                             });
    const bool has_bias = forward.parameters.flag("bias");
    const auto results = std::ssize(diff);
    EXPECT_EQ(data.work.macs, macs);
    EXPECT_EQ(data.work.flops, 2 * macs);
    EXPECT_EQ(weights.work.macs, macs);
    EXPECT_EQ(weights.work.flops, 2 * macs + (has_bias ? results : 0));
    expect_values(built_in_reference(data, std::vector{diff, matrices}, 0, {}), diff_source);
    const std::vector<std::vector<double>> inputs = {source, diff};
    expect_values(built_in_reference(weights, inputs, 0, {}), diff_weights);
    ASSERT_EQ(weights.output_count(), has_bias ? 2U : 1U);
    if (!has_bias) continue;
    const auto columns = static_cast<std::size_t>(forward.parameters.count("n"));
    std::vector<double> diff_bias;
    std::size_t row = 0;
    for (const std::int64_t rows : forward.parameters.numbers("groups")) {
      diff_bias.resize(diff_bias.size() + columns);
      for (const std::size_t end = row + static_cast<std::size_t>(rows); row < end; ++row) {
        for (std::size_t n = 0; n < columns; ++n) {
          diff_bias[diff_bias.size() - columns + n] += diff[row * columns + n];
        }
      }
    }
    expect_values(built_in_reference(weights, inputs, 1, {}), diff_bias);
  }
}

TEST(GroupedGemm, ConsistsOfTheProductsOfItsGroups) {
  const Problem grouped = problem("grouped_gemm", "5x16x5-n32k64+tb+bias", DataType::bf16);
  EXPECT_EQ(grouped.tensors[0].dims, (Dims{26, 64}));
  EXPECT_EQ(grouped.tensors[1].dims, (Dims{3, 32, 64}));
  EXPECT_EQ(grouped.tensors[2].dims, (Dims{3, 32}));
  const std::vector<Problem> products = group_products(grouped);
  ASSERT_EQ(products.size(), 3U);
  EXPECT_EQ(problem_tokens(products[1]), "m16n32k64+tb+bias");
  EXPECT_EQ(products[1].dtype, DataType::bf16);
  for (std::size_t tensor = 0; tensor < grouped.tensors.size(); ++tensor) {
    std::int64_t elements = 0;
    for (const Problem& product : products) elements += product.tensors[tensor].elements();
    EXPECT_EQ(elements, grouped.tensors[tensor].elements());
  }
}

}  // namespace
}  // namespace bench::ops::op_test
