// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/primitive.hpp"

#include "ops/pointwise/functions.hpp"

#include <gtest/gtest.h>

namespace bench::ops {
namespace {

TEST(Eltwise, EveryPointwiseFunctionHasAnAlgorithm) {
  for (const UnaryFunction& function : unary_functions()) {
    EXPECT_TRUE(find_eltwise(function.name, function.alpha, function.beta)) << function.name;
    EXPECT_FALSE(find_binary(function.name)) << function.name;
  }
  for (const BinaryFunction& function : binary_functions()) {
    EXPECT_TRUE(find_binary(function.name)) << function.name;
    EXPECT_FALSE(find_eltwise(function.name, 0, 0)) << function.name;
  }
  EXPECT_FALSE(find_eltwise("rellu", 0, 0));
}

TEST(Eltwise, CoefficientsAreTheFunctionsOwn) {
  const auto clip = find_eltwise("clip", -1, 6);
  ASSERT_TRUE(clip);
  EXPECT_EQ(clip->alpha, -1.0F);
  EXPECT_EQ(clip->beta, 6.0F);
}

}  // namespace
}  // namespace bench::ops
