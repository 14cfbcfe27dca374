// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/check.hpp"

#include "harness/config/case_id.hpp"
#include "ops/fill.hpp"
#include "ops/post_op.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace bench {
namespace {

ops::Tensor tensor(ops::Dims dims) {
  return {"destination", ops::TensorRole::output, DataType::f32, std::move(dims), 0};
}
PlainOutput output(const ops::Tensor& tensor, const std::vector<float>& values) {
  return {&tensor, reinterpret_cast<const std::byte*>(values.data())};
}

TEST(CheckPositions, AllOfASmallOutput) {
  const auto positions = check_positions({2, 3}, 1);
  EXPECT_THAT(positions, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(CheckPositions, EnoughDistinctOnesOfALargeOutput) {
  const ops::Dims dims = {2, 64, 56, 56};
  const auto positions = check_positions(dims, 1);
  EXPECT_GE(static_cast<std::int64_t>(positions.size()), kCheckedPositions);
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
  EXPECT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end());
  EXPECT_GE(positions.front(), 0);
  EXPECT_LT(positions.back(), 2 * 64 * 56 * 56);
  EXPECT_EQ(positions, check_positions(dims, 1));
  EXPECT_NE(positions, check_positions(dims, 2));
}

TEST(CheckPositions, HoldTheCornersAndTheWholeBorderOfOnePlane) {
  const std::int64_t n = 2, c = 64, h = 56, w = 40;
  const auto positions = check_positions({n, c, h, w}, 7);
  const std::set<std::int64_t> set(positions.begin(), positions.end());
  for (const std::int64_t i : {std::int64_t{0}, n - 1}) {
    for (const std::int64_t j : {std::int64_t{0}, c - 1}) {
      for (const std::int64_t y : {std::int64_t{0}, h - 1}) {
        for (const std::int64_t x : {std::int64_t{0}, w - 1}) {
          EXPECT_TRUE(set.contains(((i * c + j) * h + y) * w + x));
        }
      }
    }
  }
  std::int64_t whole = 0;
  for (std::int64_t plane = 0; plane < n * c; ++plane) {
    std::int64_t border = 0;
    for (std::int64_t y = 0; y < h; ++y) {
      for (std::int64_t x = 0; x < w; ++x) {
        const bool edge = y == 0 || x == 0 || y == h - 1 || x == w - 1;
        border += edge && set.contains((plane * h + y) * w + x) ? 1 : 0;
      }
    }
    whole += border == 2 * (h + w) - 4 ? 1 : 0;
  }
  EXPECT_GE(whole, 1);
}

TEST(CheckPositions, ManyDimensionsStayBounded) {
  const auto positions = check_positions(ops::Dims(20, 2), 1);
  EXPECT_GE(static_cast<std::int64_t>(positions.size()), kCheckedPositions);
  EXPECT_LT(static_cast<std::int64_t>(positions.size()), 4 * kCheckedPositions);
}

TEST(Compare, NamesTheFirstWrongElement) {
  const ops::Tensor t = tensor({2, 2});
  const std::vector<float> got = {1, 2, 3.5, 9};
  const std::vector<double> want = {1, 2, 3, 4};
  const auto result = compare(output(t, got), {}, want, {0.25, 0});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().message(),
      "destination[1,0]: got 3.5, want 3, tolerance 0.25; 2 of 4 compared elements are wrong");
}

TEST(Compare, TellsTheLargestShareOfTheTolerance) {
  const ops::Tensor t = tensor({4});
  const std::vector<float> got = {1, 2.125, 3, 4};
  const std::vector<std::int64_t> positions = {1, 3};
  const std::vector<double> want = {2, 4};
  const auto result = compare(output(t, got), positions, want, {0.25, 0});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->elements, 2);
  EXPECT_EQ(result->worst, 0.5);
}

TEST(Compare, InfinityAndNaNAreEqualOnlyToThemselves) {
  const ops::Tensor t = tensor({2});
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<float> got = {static_cast<float>(inf), static_cast<float>(nan)};
  EXPECT_TRUE(compare(output(t, got), {}, std::vector<double>{inf, nan}, {1, 1}).ok());
  EXPECT_FALSE(compare(output(t, got), {}, std::vector<double>{inf, 0}, {1, 1}).ok());
  EXPECT_FALSE(compare(output(t, got), {}, std::vector<double>{1, nan}, {1, 1}).ok());
}

TEST(FindUnwritten, NamesTheFirstNaN) {
  const ops::Tensor t = tensor({1, 3});
  std::vector<float> values = {1, 2, 3};
  EXPECT_TRUE(find_unwritten(output(t, values)).ok());
  values[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(find_unwritten(output(t, values)).error().message(),
              testing::StartsWith("destination[0,2]: got NaN"));
}

class Freivalds : public testing::TestWithParam<const char*> {};

TEST_P(Freivalds, FindsOneWrongElementOfAGemm) {
  const auto problem = problem_from_key(*parse_id(GetParam()));
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  std::vector<std::vector<double>> inputs;
  for (std::size_t i = 0; i < problem->input_count(); ++i) {
    inputs.push_back(ops::random_values(*problem, i, 3));
  }
  const std::vector<double> want = ops::built_in_reference(*problem, inputs, 0, {});
  std::vector<float> got(want.begin(), want.end());
  const PlainOutput plain = output(problem->tensors.back(), got);
  const auto right = freivalds(*problem, inputs, plain, 5);
  ASSERT_TRUE(right.has_value());
  EXPECT_TRUE(right->ok()) << right->error().message();
  got[got.size() / 2] += 0.01F;
  const auto wrong = freivalds(*problem, inputs, plain, 5);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_FALSE(wrong->ok());
}

INSTANTIATE_TEST_SUITE_P(Gemms, Freivalds,
                         testing::Values("gemm/forward/m31n17k23/f32/onednn/cpu/hot",
                                         "gemm/forward/m31n17k23+ta/f32/onednn/cpu/hot",
                                         "gemm/forward/m31n17k23+tb+bias/f32/onednn/cpu/hot",
                                         "gemm/forward/b3m5n7k11+ta+tb/f32/onednn/cpu/hot"));

TEST(FreivaldsTest, DoesNotApplyBehindPostOps) {
  const auto problem = problem_from_key(*parse_id("gemm/forward/m3n3k3+relu/f32/onednn/cpu/hot"));
  ASSERT_TRUE(problem.ok()) << problem.error().message();
  const std::vector<float> got(9, 0.0F);
  EXPECT_FALSE(freivalds(*problem, {}, output(problem->tensors.back(), got), 1).has_value());
}

TEST(SampleOutputs, DigestSeesWhatPositionsMayMiss) {
  const ops::Tensor t = tensor({100000});
  std::vector<float> values(100000, 1.0F);
  const PlainOutput one = output(t, values);
  const OutputSample before = sample_outputs({&one, 1}, 1);
  const auto positions = check_positions(t.dims, 1);
  std::int64_t unseen = 0;
  while (std::binary_search(positions.begin(), positions.end(), unseen)) ++unseen;
  values[static_cast<std::size_t>(unseen)] = 2;
  const OutputSample after = sample_outputs({&one, 1}, 1);
  EXPECT_NE(before.digest, after.digest);
  EXPECT_EQ(before.values, after.values);
  EXPECT_EQ(before.values.size(), positions.size());
}

}  // namespace
}  // namespace bench
