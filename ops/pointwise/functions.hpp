// SPDX-License-Identifier: Apache-2.0
// The scalar functions of pointwise and of post-ops: one row each, in the order of the manual.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {

// Where a function's argument must lie for a finite value (random inputs respect it).
enum class Domain { everywhere, positive };

// What one element costs in the convention `bench-1`: special functions (exp, erf, tanh, log, sqrt)
// are counted apart from plain additions, multiplications, divisions and comparisons. Negation is
// free.
struct ElementWork {
  std::int64_t flops = 0;
  std::int64_t sfu_ops = 0;
};

// y = value(x, alpha, beta). `derivative` is dy/dx at x; at a kink it is the one that oneDNN and
// PyTorch take (relu: 0 at 0; clip: 1 where alpha < x <= beta; abs: 0 at 0).
struct UnaryFunction {
  std::string_view name;
  int coefficients;  // how many of alpha, beta it reads: 0, 1 or 2
  double alpha;      // defaults; 0 where it reads none
  double beta;
  Domain domain;
  bool on_integers;      // defined for s8 and u8: results are integers again
  ElementWork forward;   // y of x
  ElementWork backward;  // dx of x and dy, the product with dy included
  double (*value)(double x, double alpha, double beta);
  double (*derivative)(double x, double alpha, double beta);
};

std::span<const UnaryFunction> unary_functions();
const UnaryFunction* find_unary_function(std::string_view name);  // nullptr when unknown

// y = value(a, b): one FLOP an element. On integers the result is rounded to nearest and saturated.
struct BinaryFunction {
  std::string_view name;
  Domain second_domain;  // of b
  double (*value)(double a, double b);
};

std::span<const BinaryFunction> binary_functions();
const BinaryFunction* find_binary_function(std::string_view name);  // nullptr when unknown

// Unary, then binary names.
std::span<const std::string_view> pointwise_function_names();

}  // namespace bench::ops
