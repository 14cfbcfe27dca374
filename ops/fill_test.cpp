// SPDX-License-Identifier: Apache-2.0
#include "ops/fill.hpp"

#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace bench::ops {
namespace {

using op_test::problem;

struct Spread {
  double low = 0;
  double high = 0;
  double mean = 0;
};

Spread spread(const std::vector<double>& values) {
  Spread result{values.front(), values.front(), 0};
  for (const double value : values) {
    result.low = std::min(result.low, value);
    result.high = std::max(result.high, value);
    result.mean += value / static_cast<double>(values.size());
  }
  return result;
}

TEST(RandomValues, DependOnSeedTensorAndElement) {
  const Problem conv = problem("conv", "c16h16w16k16r3s3p1");
  const std::vector<double> values = random_values(conv, 0, 7);
  EXPECT_EQ(values, random_values(conv, 0, 7));
  EXPECT_NE(values, random_values(conv, 0, 8));
  const std::vector<double> weights = random_values(conv, 1, 7);
  EXPECT_NE(values[0], weights[0]);
  // A longer tensor begins with the same values.
  const std::vector<double> longer = random_values(problem("conv", "n2c16h16k16r3p1"), 0, 7);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin()));
  EXPECT_GT(std::set<double>(values.begin(), values.end()).size(), values.size() * 99 / 100);
}

TEST(RandomValues, AreExactInEveryType) {
  using enum DataType;
  for (const DataType dtype : {f64, f32, f16, bf16, f8_e4m3, f8_e5m2, s8, u8}) {
    const Problem conv = problem("conv", "c8h9w9k8r3s3p1+bias+add", dtype);
    for (std::size_t tensor = 0; tensor < conv.input_count(); ++tensor) {
      for (const double value : random_values(conv, tensor, 3)) {
        ASSERT_EQ(round_to(conv.tensors[tensor].dtype, value), value) << info(dtype).name;
      }
    }
  }
}

TEST(RandomValues, ABiasIsExactInTheTypeThatALibraryHoldsItIn) {
  using enum DataType;
  const auto bias_is_exact = [](DataType dtype, DataType held) {
    const Problem gemm = problem("gemm", "m3n64k8+bias", dtype);
    ASSERT_EQ(gemm.tensors[2].name, "bias");
    std::set<double> distinct;
    for (const double value : random_values(gemm, 2, 3)) {
      distinct.insert(value);
      EXPECT_EQ(round_to(held, value), value) << info(dtype).name;
    }
    EXPECT_GT(distinct.size(), 32U);
  };
  bias_is_exact(f16, f16);
  bias_is_exact(bf16, bf16);
  bias_is_exact(f8_e4m3, bf16);
}

// Each library chooses its own maximum of two equal elements.
TEST(RandomValues, WindowsOfAMaximumsGradientHaveOne) {
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    const Problem pool = problem("pool", "max-n2c3h17w19r3u2p1", dtype, Direction::backward_data);
    const std::vector<double> source = random_values(pool, 0, 3);
    for (std::size_t plane = 0; plane < 6; ++plane) {
      for (std::size_t top = 0; top + 3 <= 17; ++top) {
        for (std::size_t left = 0; left + 3 <= 19; ++left) {
          std::set<double> window;
          for (std::size_t tap = 0; tap < 9; ++tap) {
            window.insert(source[(plane * 17 + top + tap / 3) * 19 + left + tap % 3]);
          }
          ASSERT_EQ(window.size(), 9U) << plane << ' ' << top << ' ' << left;
        }
      }
    }
    for (const double value : source) ASSERT_EQ(round_to(dtype, value), value);
    EXPECT_FALSE(std::equal(source.begin(), source.begin() + 323, source.begin() + 323));
  }
}

TEST(RandomValues, KeepOutputsOfOrderOne) {
  for (const char* tokens : {"c512h14w14k16r3s3p1", "c3h32w32k16r7s7u2p3", "c8w64k8s1"}) {
    const Problem conv = problem("conv", tokens);
    const std::vector<double> output =
        built_in_reference(conv, op_test::random_inputs(conv, 1), 0, {});
    double squares = 0;
    for (const double value : output) squares += value * value;
    const double deviation = std::sqrt(squares / static_cast<double>(output.size()));
    EXPECT_GT(deviation, 0.2) << tokens;
    EXPECT_LT(deviation, 0.5) << tokens;
  }
}

TEST(RandomValues, IntegersStayInTheirRange) {
  const Problem conv = problem("conv", "c16h16w16k16r3s3p1", DataType::u8);
  const Spread source = spread(random_values(conv, 0, 1));
  EXPECT_EQ(source.low, 0);
  EXPECT_EQ(source.high, 16);
  EXPECT_NEAR(source.mean, 8, 0.5);
  const Spread weights = spread(random_values(conv, 1, 1));
  EXPECT_EQ(weights.low, -8);
  EXPECT_EQ(weights.high, 8);
  EXPECT_NEAR(weights.mean, 0, 0.5);
}

TEST(RandomValues, ArePositiveWhereTheOperatorNeedsIt) {
  EXPECT_GE(spread(random_values(problem("pointwise", "log-64x64"), 0, 1)).low, 0.5);
  EXPECT_GE(spread(random_values(problem("pointwise", "sqrt-64x64"), 0, 1)).low, 0.5);
  EXPECT_LT(spread(random_values(problem("pointwise", "relu-64x64"), 0, 1)).low, -0.9);
}

// No index is out of range, and none repeats before each was used.
TEST(RandomValues, IndicesArePermutationsOfAllValidValues) {
  for (const std::int64_t rows : {1, 2, 3, 5, 16, 17, 1000}) {
    const auto tokens = fmt::format("r{}d1i{}", rows, 2 * rows + 1);
    const Problem lookup = problem("embedding", tokens);
    const std::vector<double> indices = random_values(lookup, 1, 7);
    ASSERT_EQ(std::ssize(indices), 2 * rows + 1);
    for (std::int64_t round = 0; round < 2; ++round) {
      const auto first = indices.begin() + round * rows;
      const std::set<double> values(first, first + rows);
      ASSERT_EQ(std::ssize(values), rows) << tokens;
      EXPECT_EQ(*values.begin(), 0);
      EXPECT_EQ(*values.rbegin(), static_cast<double>(rows - 1));
    }
    EXPECT_GE(indices.back(), 0);
    EXPECT_LT(indices.back(), static_cast<double>(rows));
    if (rows == 1000) {
      EXPECT_NE(indices, random_values(lookup, 1, 8));
      const std::vector<double> source(indices.begin(), indices.begin() + 500);
      EXPECT_NEAR(spread(source).mean, 500, 60);
    }
  }
  // As many rows as an index can name.
  for (const double index : random_values(problem("embedding", "r2147483647d1i1000"), 1, 7)) {
    EXPECT_GE(index, 0);
    EXPECT_LT(index, 2147483647);
  }
}

bool is_normal(DataType dtype, const std::uint16_t* units, std::size_t index) {
  const double value = load_element(dtype, units, index);
  // The smallest normal number of the type. For f64 and integers, that of f32 is sufficient.
  const double smallest = dtype == DataType::f8_e4m3   ? 0x1p-6
                          : dtype == DataType::f8_e5m2 ? 0x1p-14
                          : dtype == DataType::f16     ? 0x1p-14
                                                       : 0x1p-126;
  return std::isfinite(value) && std::abs(value) >= smallest && std::abs(value) < 256;
}

TEST(FillAnyType, IsNormalInEveryType) {
  using enum DataType;
  constexpr std::size_t kUnits = 4096;
  std::vector<std::uint16_t> units(kUnits);
  fill_any_type(units.data(), kUnits, 11);
  for (const DataType dtype : {f64, f32, f16, bf16, f8_e4m3, f8_e5m2, s8, u8}) {
    const std::size_t count = kUnits * 2 / static_cast<std::size_t>(info(dtype).bytes);
    std::set<double> values;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(is_normal(dtype, units.data(), i)) << info(dtype).name << " " << i;
      values.insert(load_element(dtype, units.data(), i));
    }
    EXPECT_GE(values.size(), 16u) << info(dtype).name;
  }
}

TEST(FillAnyType, FillsExactlyWhatIsAskedFor) {
  std::vector<std::uint16_t> units(8, 0);
  fill_any_type(units.data(), 6, 11);
  EXPECT_NE(units[5], 0);
  EXPECT_EQ(units[6], 0);
  EXPECT_EQ(units[7], 0);
}

}  // namespace
}  // namespace bench::ops
