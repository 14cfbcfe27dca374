// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/sort.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Sort, GoldenValues) {
  const std::vector<std::vector<double>> source = {{3, 1, 3, 2, 0, -1, -1, 5}};
  const auto result = [&](const char* tokens, std::size_t output) {
    return built_in_reference(op_test::problem("sort", tokens), source, output, {});
  };
  EXPECT_THAT(result("sort-2x4", 0), ElementsAre(1, 2, 3, 3, -1, -1, 0, 5));
  EXPECT_THAT(result("sort-2x4", 1), ElementsAre(1, 3, 0, 2, 1, 2, 0, 3));
  EXPECT_THAT(result("topk-2x4-k2", 0), ElementsAre(3, 3, 5, 0));
  EXPECT_THAT(result("topk-2x4-k2", 1), ElementsAre(0, 2, 3, 0));
  EXPECT_THAT(result("argmax-2x4", 0), ElementsAre(0, 3));
  EXPECT_THAT(result("argmin-2x4", 0), ElementsAre(1, 1));
}

TEST(Sort, WorkAndGradient) {
  const Problem sort = op_test::problem("sort", "sort-2x5");
  EXPECT_EQ(sort.work.flops, 2 * 5 * 3);
  op_test::expect_bytes(sort, 4 * 10 * 3);
  const Problem topk = op_test::problem("sort", "topk-2x100-k4");
  EXPECT_EQ(topk.work.flops, 2 * (100 + 4 * 2));
  op_test::expect_bytes(topk, 4 * (200 + 8 + 8));
  const Problem argmax = op_test::problem("sort", "argmax-2x100");
  EXPECT_EQ(argmax.work.flops, 2 * 99);
  op_test::expect_bytes(argmax, 4 * (200 + 2));
  const Problem backward =
      op_test::problem("sort", "topk-2x3-k2", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, {{{2, 0, 1, 2}, {1, 2, 3, 4}}}, 0, {}),
              ElementsAre(2, 0, 1, 0, 3, 4));
  EXPECT_EQ(backward.work.flops, 4);
}

TEST(Sort, WhatAFunctionHasNotIsNamed) {
  const auto where = [](const char* tokens, Direction direction = Direction::forward) {
    const auto problem = op_test::try_problem("sort", tokens, DataType::f32, direction);
    return problem.ok() ? "accepted" : problem.error().where;
  };
  EXPECT_EQ(where("topk-2x3"), "k");
  EXPECT_EQ(where("topk-2x3-k4"), "k");
  EXPECT_EQ(where("sort-2x3-k2"), "k");
  EXPECT_EQ(where("argmax-2x3", Direction::backward_data), "function");
  EXPECT_EQ(where("sort-2x3", Direction::backward_data), "accepted");
}

}  // namespace
}  // namespace bench::ops
