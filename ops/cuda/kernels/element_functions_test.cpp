// SPDX-License-Identifier: Apache-2.0
// Tests the device's arithmetic on the CPU: conversions against base/data_type.hpp, functions
// against ops/pointwise/functions.hpp.
#include "ops/cuda/kernels/element_functions.hpp"

#include "base/data_type.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/pointwise/functions.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr DataType kNarrow[] = {DataType::f16, DataType::bf16,    DataType::s8,
                                DataType::u8,  DataType::f8_e4m3, DataType::f8_e5m2};

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

TEST(Elements, EveryCodeOfNarrowTypesIsReadAsElsewhere) {
  for (const DataType type : kNarrow) {
    const std::uint32_t codes = 1u << (8 * info(type).bytes);
    for (std::uint32_t code = 0; code < codes; ++code) {
      const auto narrow = static_cast<std::uint16_t>(code);
      const double want = load_element(type, &narrow, 0);
      EXPECT_TRUE(same(load_as<float>(to_element(type), &narrow, 0), want)) << code;
      EXPECT_TRUE(same(load_as<double>(to_element(type), &narrow, 0), want)) << code;
    }
  }
}

// Tests every code, the value halfway to the next one, and both neighbours of that value.
TEST(Elements, AreRoundedAsElsewhere) {
  for (const DataType type : kNarrow) {
    const std::uint32_t codes = 1u << (8 * info(type).bytes);
    for (std::uint32_t code = 0; code + 1 < codes; ++code) {
      const std::uint16_t pair[] = {static_cast<std::uint16_t>(code),
                                    static_cast<std::uint16_t>(code + 1)};
      const auto low = static_cast<float>(load_element(type, &pair[0], 0));
      const auto high = static_cast<float>(load_element(type, &pair[1], 0));
      const float middle = low / 2 + high / 2;
      for (const float value :
           {low, middle, std::nextafterf(middle, low), std::nextafterf(middle, high)}) {
        std::uint16_t got = 0, want = 0;
        store_as<float>(to_element(type), &got, 0, value);
        store_element(type, &want, 0, value);
        ASSERT_EQ(got, want) << info(type).name << " " << value;
      }
    }
  }
}

TEST(Elements, ExtremesAreRoundedAsElsewhere) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const DataTypeInfo& type : data_types()) {
    for (const float value :
         {0.0F, -0.0F, 1e-45F, -1e-45F, 1e-39F, 464.0F, 465.0F, 480.0F, -500.0F, 65519.0F, 65520.0F,
          -65520.0F, 61440.0F, 3.4e38F, infinity, -infinity, std::nanf("")}) {
      double got = 0, want = 0;
      store_as<float>(to_element(type.type), &got, 0, value);
      store_element(type.type, &want, 0, value);
      EXPECT_TRUE(same(load_element(type.type, &got, 0), load_element(type.type, &want, 0)))
          << type.name << " " << value;
    }
  }
}

TEST(Elements, RandomFloatsAreRoundedAsElsewhere) {
  std::mt19937 random(3);
  for (const DataType type :
       {DataType::f16, DataType::bf16, DataType::f8_e4m3, DataType::f8_e5m2}) {
    for (int i = 0; i < 200000; ++i) {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      std::uint16_t got = 0, want = 0;
      store_as<float>(to_element(type), &got, 0, value);
      store_element(type, &want, 0, value);
      ASSERT_TRUE(same(load_element(type, &got, 0), load_element(type, &want, 0)))
          << info(type).name << " " << value;
    }
  }
}

TEST(Functions, AreTheOnesOfPointwise) {
  for (const UnaryFunction& row : unary_functions()) {
    const auto function = find_function(row.name);
    ASSERT_TRUE(function) << row.name;
    for (double x = row.domain == Domain::positive ? 0.0625 : -8; x <= 8; x += 0.0625) {
      const double want = row.value(x, row.alpha, row.beta);
      const double slope = row.derivative(x, row.alpha, row.beta);
      EXPECT_NEAR(apply<double>(*function, x, row.alpha, row.beta), want,
                  1e-14 * std::max(1.0, std::abs(want)))
          << row.name << " of " << x;
      EXPECT_NEAR(derivative<double>(*function, x, row.alpha, row.beta), slope,
                  1e-13 * std::max(1.0, std::abs(slope)))
          << "derivative of " << row.name << " at " << x;
      const auto narrow = apply<float>(*function, static_cast<float>(x),
                                       static_cast<float>(row.alpha), static_cast<float>(row.beta));
      EXPECT_NEAR(narrow, want, 4e-6 * std::max(1.0, std::abs(want))) << row.name << " of " << x;
    }
  }
  EXPECT_FALSE(find_function("cbrt"));
}

TEST(Functions, OfTwoAreTheOnesOfPointwise) {
  for (const BinaryFunction& row : binary_functions()) {
    const auto combination = find_combination(row.name);
    ASSERT_TRUE(combination) << row.name;
    for (double a = -3; a <= 3; a += 0.5) {
      for (double b = 0.25; b <= 3; b += 0.5) {
        EXPECT_EQ(combine<double>(*combination, a, b), row.value(a, b)) << row.name;
      }
    }
  }
  EXPECT_FALSE(find_combination("pow"));
}

}  // namespace
}  // namespace bench::ops::cuda
