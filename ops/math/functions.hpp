// SPDX-License-Identifier: Apache-2.0
// The functions of math: one row per function, in the manual's order.
// ops/math/cuda_native_functions.hpp has the same functions for kernels; tests compare both.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bench::ops {

// Inputs are chosen uniformly in [low, high). `whole`: integers of this range only.
struct MathRange {
  double low = -1;
  double high = 1;
  enum class Values : std::uint8_t { real, whole } values = Values::real;
};

// The cost of one element in the convention `bench-1`, as of pointwise.
struct MathWork {
  std::int64_t flops = 0;
  std::int64_t sfu_ops = 0;
};

// The types that a function is defined for.
enum class MathTypes : std::uint8_t { floating, integers, any };

// The arguments that a function reads, and the coefficient `alpha`.
struct MathArguments {
  double a = 0, b = 0, c = 0, alpha = 0;
};
// The derivatives by a, b and c.
using MathSlopes = std::array<double, 3>;

struct MathFunction {
  std::string_view name;
  int operands;                 // 1 to 3
  std::optional<double> alpha;  // default of the coefficient; nullopt: the function has none
  MathTypes types;
  std::array<MathRange, 3> ranges;
  MathWork forward;
  // The cost of all derivatives, with the products; nullopt: the function has no gradient.
  std::optional<MathWork> backward;
  double (*value)(const MathArguments& at);
  MathSlopes (*slopes)(const MathArguments& at);  // nullptr without `backward`
};

std::span<const MathFunction> math_functions();
const MathFunction* find_math_function(std::string_view name);  // nullptr if unknown
std::span<const std::string_view> math_function_names();

// Returns the number of operands that have a gradient: the condition of `select` has none.
constexpr int gradient_operands(const MathFunction& function) {
  return function.name == "select" ? 2 : function.operands;
}

}  // namespace bench::ops
