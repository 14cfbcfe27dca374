// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace bench {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error{"odd", "half", "try another"};
  return value / 2;
}

Result<int> quarter(int value) {
  BENCH_ASSIGN_OR_RETURN(const int once, half(value));
  BENCH_ASSIGN_OR_RETURN(const int twice, half(once));
  return twice;
}

Status positive(int value) {
  if (value <= 0) return Error{"not positive", "", ""};
  return Done{};
}

Status both_positive(int a, int b) {
  BENCH_RETURN_IF_ERROR(positive(a));
  BENCH_RETURN_IF_ERROR(positive(b));
  return Done{};
}

TEST(Error, MessageLeavesEmptyPartsOut) {
  EXPECT_EQ((Error{"what", "where", "next"}).message(), "where: what; next");
  EXPECT_EQ((Error{"what", "", "next"}).message(), "what; next");
  EXPECT_EQ((Error{"what", "where", ""}).message(), "where: what");
  EXPECT_EQ((Error{"what", "", ""}).message(), "what");
}

TEST(Result, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().what, "odd");
  EXPECT_FALSE(quarter(1).ok());
  EXPECT_TRUE(both_positive(1, 1).ok());
  EXPECT_EQ(both_positive(1, 0).error().what, "not positive");
}

TEST(Result, ReadingTheAbsentPartThrows) {
  EXPECT_THROW((void)half(1).value(), std::bad_variant_access);
  const Result<int> good = half(2);
  EXPECT_THROW((void)good.error(), std::bad_variant_access);
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 5);
}

}  // namespace
}  // namespace bench
