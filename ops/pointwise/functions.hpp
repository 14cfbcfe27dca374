// SPDX-License-Identifier: Apache-2.0
// The scalar functions of pointwise and of post-ops: one row per function, in the manual's order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {

// The arguments for which a function has a finite value. Random inputs are chosen from the domain.
enum class Domain { everywhere, positive };

// The cost of one element in the convention `bench-1`. Special functions (exp, erf, tanh, log,
// sqrt) are counted separately from plain additions, multiplications, divisions and comparisons.
// Negation is free.
struct ElementWork {
  std::int64_t flops = 0;
  std::int64_t sfu_ops = 0;
};

// A function y = value(x, alpha, beta). `derivative` returns dy/dx at x. At a kink it returns the
// value that oneDNN and PyTorch use (relu: 0 at 0; clip: 1 if alpha < x <= beta; abs: 0 at 0;
// hardsigmoid: 0 at
// +-3).
struct UnaryFunction {
  std::string_view name;
  int coefficients;  // number of coefficients that it reads: 0, 1 (alpha) or 2 (alpha and beta)
  double alpha;      // default; 0 if not read
  double beta;       // default; 0 if not read
  Domain domain;
  bool on_integers;      // defined for s8 and u8; the results are integers
  ElementWork forward;   // computes y from x
  ElementWork backward;  // computes dx from x and dy, including the product with dy
  double (*value)(double x, double alpha, double beta);
  double (*derivative)(double x, double alpha, double beta);
};

// The coefficients of a function; 0 if the function does not read them.
struct PointwiseCoefficients {
  double alpha = 0;
  double beta = 0;
};

std::span<const UnaryFunction> unary_functions();
const UnaryFunction* find_unary_function(std::string_view name);  // nullptr if unknown

// A function y = value(a, b) with one FLOP per element. For integers the result is rounded to
// nearest and saturated.
struct BinaryFunction {
  std::string_view name;
  Domain second_domain;  // domain of b
  double (*value)(double a, double b);
};

std::span<const BinaryFunction> binary_functions();
const BinaryFunction* find_binary_function(std::string_view name);  // nullptr if unknown

// Returns the names of the unary functions, then those of the binary functions.
std::span<const std::string_view> pointwise_function_names();

}  // namespace bench::ops
