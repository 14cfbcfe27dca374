// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.hpp"

#include "ops/model.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <vector>

namespace bench::ops::op_test {
namespace {

using ::testing::HasSubstr;

Problem random_gemm(Random& random, std::int64_t largest) {
  ParameterSet set(gemm_operator.parameters);
  set.set("batch", draw(random, 1, 3));
  for (const char* name : {"m", "n", "k"}) set.set(name, draw(random, 1, largest));
  for (const char* name : {"trans_a", "trans_b", "bias"}) set.set(name, draw(random, 0, 1) == 1);
  return make_problem({.op = &gemm_operator, .parameters = set}).value();
}

// Calls visit(source, weights, destination) with flat indexes for each multiply-accumulate.
template <class Visit>
void for_each_product(const GemmShape& s, Visit visit) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t m = 0; m < s.m; ++m) {
      for (std::int64_t n = 0; n < s.n; ++n) {
        for (std::int64_t k = 0; k < s.k; ++k) {
          const std::int64_t a = s.a == Storage::plain ? m * s.k + k : k * s.m + m;
          const std::int64_t w = s.b == Storage::plain ? k * s.n + n : n * s.k + k;
          visit(static_cast<std::size_t>(b * s.m * s.k + a),
                static_cast<std::size_t>(b * s.k * s.n + w),
                static_cast<std::size_t>((b * s.m + m) * s.n + n));
        }
      }
    }
  }
}

TEST(GemmWork, EqualsALoopNest) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Problem gemm = random_gemm(random, 7);
    const GemmShape shape = gemm_shape(gemm.parameters);
    std::int64_t macs = 0;
    std::set<std::size_t> source, weights, destination;
    for_each_product(shape, [&](std::size_t a, std::size_t b, std::size_t c) {
      ++macs;
      source.insert(a);
      weights.insert(b);
      destination.insert(c);
    });
    const auto outputs = static_cast<std::int64_t>(destination.size());
    const std::int64_t flops = 2 * macs + (shape.has_bias ? outputs : 0);
    ASSERT_EQ(gemm.work.macs, macs) << problem_tokens(gemm);
    ASSERT_EQ(gemm.work.flops, flops);
    ASSERT_EQ(gemm.work.flops_valid, flops);
    ASSERT_EQ(gemm.work.bytes_read, 4 * (static_cast<std::int64_t>(source.size() + weights.size()) +
                                         (shape.has_bias ? shape.n : 0)));
    ASSERT_EQ(gemm.work.bytes_written, 4 * outputs);
  }
}

TEST(GemmWork, PublishedValues) {
  const Problem linear = problem("gemm", "m1024n64k512", DataType::f16);
  EXPECT_EQ(linear.work.flops, 67'108'864);
  EXPECT_EQ(linear.work.traffic().count, 1'245'184);
  const Problem batched = problem("gemm", "b128m128n128k64", DataType::f16);
  EXPECT_EQ(batched.work.flops, 268'435'456);
  EXPECT_EQ(batched.work.traffic().count, 8'388'608);
}

TEST(GemmReference, AgreesWithALoopNest) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const Problem gemm = random_gemm(random, 13);
    SCOPED_TRACE(problem_tokens(gemm));
    const GemmShape shape = gemm_shape(gemm.parameters);
    const auto inputs = random_inputs(gemm, random());
    std::vector<double> want(static_cast<std::size_t>(gemm.tensors.back().elements()));
    for_each_product(shape, [&](std::size_t a, std::size_t b, std::size_t c) {
      want[c] += inputs[0][a] * inputs[1][b];
    });
    for (std::size_t j = 0; j < want.size() && shape.has_bias; ++j) {
      want[j] += inputs[2][j % static_cast<std::size_t>(shape.n)];
    }
    std::vector<std::int64_t> positions(want.size());
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    const std::vector<double> whole = reference_gemm(gemm, inputs, 0, {});
    const std::vector<double> single = reference_gemm(gemm, inputs, 0, positions);
    ASSERT_EQ(whole.size(), want.size());
    for (std::size_t j = 0; j < want.size(); ++j) {
      ASSERT_NEAR(whole[j], want[j], 1e-13) << j;
      ASSERT_NEAR(single[j], want[j], 1e-13) << j;
    }
  }
}

TEST(Gemm, TensorsFollowStorageAndBatch) {
  const Problem plain = problem("gemm", "m2n3k4+bias");
  EXPECT_EQ(plain.tensors[0].dims, (Dims{2, 4}));
  EXPECT_EQ(plain.tensors[1].dims, (Dims{4, 3}));
  EXPECT_EQ(plain.tensors[1].role, TensorRole::weights);
  EXPECT_EQ(plain.tensors[2].dims, (Dims{3}));
  EXPECT_EQ(plain.tensors[3].dims, (Dims{2, 3}));
  const Problem stored = problem("gemm", "b5m2n3k4+ta+tb");
  EXPECT_EQ(stored.tensors[0].dims, (Dims{5, 4, 2}));
  EXPECT_EQ(stored.tensors[1].dims, (Dims{5, 3, 4}));
  EXPECT_EQ(stored.tensors[2].dims, (Dims{5, 2, 3}));
  EXPECT_EQ(problem("gemm", "m2n3k4", DataType::u8).tensors[2].dtype, DataType::s32);
}

TEST(Gemm, TextRoundTrips) {
  EXPECT_EQ(problem_tokens(problem("inner_product", "k4n3m2b1+bias+tb+relu")),
            "m2n3k4+tb+bias+relu");
  Random random(3);
  for (int i = 0; i < 10'000; ++i) {
    expect_round_trip(random_gemm(random, 1'000'000));
    if (HasFatalFailure()) return;
  }
}

TEST(Gemm, ErrorsNameTheParameter) {
  const auto where = [](const char* tokens) {
    const Result<Problem> result = try_problem("gemm", tokens);
    return result.ok() ? "accepted" : result.error().where;
  };
  EXPECT_EQ(where("n2k2"), "m");
  EXPECT_EQ(where("m2k2"), "n");
  EXPECT_EQ(where("m2n2"), "k");
  EXPECT_EQ(where("m4000000000n2k4000000000"), "k");
  EXPECT_EQ(where("m2000000000n2000000000k2"), "n");
  EXPECT_EQ(where("m100000000n100000000k2000000"), "k");
  EXPECT_EQ(where("m100000000n100000000k2000"), "k");
}

TEST(Gemm, FormulasShowTheirValues) {
  const Problem gemm = problem("gemm", "b2m3n4k5+bias");
  const auto flops = std::ranges::find(gemm.formulas, "flops", &Formula::name);
  ASSERT_NE(flops, gemm.formulas.end());
  EXPECT_EQ(flops->expression, "2*B*M*N*K + B*M*N");
  EXPECT_EQ(flops->values, "2*2*3*4*5 + 2*3*4");
  EXPECT_EQ(flops->result, 264);
}

// Single precision is within the tolerance; a missing product is not.
TEST(GemmTolerance, HoldsForSinglePrecision) {
  const Problem gemm = problem("gemm", "m16n16k4096");
  const auto inputs = random_inputs(gemm, 4);
  const std::vector<double> want = reference_gemm(gemm, inputs, 0, {});
  std::vector<float> got(want.size());
  for_each_product(gemm_shape(gemm.parameters), [&](std::size_t a, std::size_t b, std::size_t c) {
    got[c] += static_cast<float>(inputs[0][a]) * static_cast<float>(inputs[1][b]);
  });
  const Tolerance tolerance = gemm_tolerance(gemm);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(got[i]) - want[i]),
              tolerance.absolute + tolerance.relative * std::abs(want[i]));
  }
  EXPECT_GT(0.25 / std::sqrt(4096.0), 10 * tolerance.absolute);
}

// Simulates a tensor core that keeps 13 bits after the leading one. It aligns the products of one
// instruction and the sum to the largest of them, truncates what is below, and adds.
double tensor_core_step(double sum, std::span<const double> products) {
  double largest = std::abs(sum);
  for (const double product : products) largest = std::max(largest, std::abs(product));
  if (largest == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 13);
  double units = std::trunc(sum / unit);
  for (const double product : products) units += std::trunc(product / unit);
  return units * unit;
}

// The error of fast accumulation of fp8 is within the tolerance for fast accumulation, and exceeds
// the tolerance for sums in f32.
TEST(GemmTolerance, HoldsForFastAccumulationOfFp8) {
  constexpr std::int64_t kDepth = 4096;
  constexpr std::size_t kInstruction = 32;  // products that one instruction adds per output
  Problem gemm = problem("gemm", "m16n16k4096+tb", DataType::f8_e4m3);
  const auto inputs = random_inputs(gemm, 4);
  const std::vector<double> want = reference_gemm(gemm, inputs, 0, {});
  // The tolerance for sums in f32. The subtracted part is the error of storing the output as fp8.
  const double tolerance_f32_sums =
      gemm_tolerance(gemm).absolute - smallest_positive(DataType::f8_e4m3);
  gemm.math = Math::fast_accumulation;
  const double tolerance_fast_sums = gemm_tolerance(gemm).absolute;
  std::vector<std::vector<double>> products(want.size());
  for_each_product(gemm_shape(gemm.parameters), [&](std::size_t a, std::size_t b, std::size_t c) {
    products[c].push_back(inputs[0][a] * inputs[1][b]);
  });
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(products[i].size(), static_cast<std::size_t>(kDepth));
    double sum = 0;
    for (std::size_t first = 0; first < products[i].size(); first += kInstruction) {
      sum = tensor_core_step(sum, std::span(products[i]).subspan(first, kInstruction));
    }
    worst = std::max(worst, std::abs(sum - want[i]));
  }
  EXPECT_LT(worst, tolerance_fast_sums);
  EXPECT_GT(worst, tolerance_f32_sums);
}

}  // namespace
}  // namespace bench::ops::op_test
