// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/math/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"
#include "ops/math/functions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, MathOfEveryFunction) {
  for (const MathFunction& function : math_functions()) {
    EXPECT_GT(test::expect_plain("math", fmt::format("{}-3x701", function.name)), 1)
        << function.name;
  }
  EXPECT_GT(test::expect_plain("math", "power-5x7-alpha-0.5"), 5);
  EXPECT_GT(test::expect_plain("math", "softplus-5000-alpha3"), 5);
  EXPECT_GT(test::expect_plain("math", "addcdiv-5x7-alpha-2"), 5);
}

// The enumeration of the kernels and the table of the operator have the same order.
TEST(MathCodes, AreNamedAsTheFunctions) {
#define BENCH_MATH_NAME(name) #name,
  constexpr std::string_view kNames[] = {BENCH_MATH_FUNCTIONS(BENCH_MATH_NAME)};
#undef BENCH_MATH_NAME
  ASSERT_EQ(std::size(kNames), math_functions().size());
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    EXPECT_EQ(math_functions()[i].name, kNames[i]);
  }
}

// A rounded quotient that is a whole number belongs to a rest below the divisor.
TEST(MathElement, RestsNextToWholeQuotientsAreExact) {
  for (const float b : {0.1F, 0.3F, 0.7F, 1.0F, 1.1F, 1.3F}) {
    for (int n = -60; n <= 60; ++n) {
      const float multiple = static_cast<float>(n) * b;
      for (const float a :
           {std::nextafterf(multiple, -100), multiple, std::nextafterf(multiple, 100)}) {
        const MathElement<float> element = {a, b, 0, 0};
        EXPECT_EQ(math_value(MathCode::fmod, element), std::fmod(a, b)) << a << " " << b;
        const double exact = std::floor(static_cast<double>(a) / static_cast<double>(b));
        EXPECT_EQ(math_value(MathCode::floor_div, element), exact) << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
