// SPDX-License-Identifier: Apache-2.0
// Computes allowed errors.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>

namespace bench::ops {

// The tolerance of operators that only move values.
inline Tolerance exact_tolerance(const Problem& /*problem*/) { return {}; }

// Returns the tolerance for outputs of order `magnitude`. Each output sums up `terms` products of
// random inputs (ops/fill.hpp) in any order, followed by the problem's post-ops.
//
// Floating-point types are accumulated in f32 (f64: in f64). Each addition rounds a partial sum of
// order `magnitude`. The errors are independent, so their sum is about sqrt(terms) times one error.
// The tolerance is 4 times this sum: more than 20 standard deviations of the error of a correct
// kernel. One wrong or missing product is of order magnitude / sqrt(terms), hundreds of times the
// tolerance.
//
// tf32 rounds each factor to 10 bits; these errors add up to 2^-10 of the output.
//
// Fast accumulation of fp8 truncates every product at 2^-13 of the largest number that it is added
// to, instead of rounding it to f32. The losses have the random signs of the products, so the same
// sqrt(terms) applies. From about 2000 terms on, this tolerance may hide a missing product, and so
// do the losses of the hardware.
//
// Finally the output is rounded to its type. A post-op enlarges errors by at most its steepest
// slope. Integers are exact. With a bias (f32) or post-ops, one rounding to nearest may go either
// way.
Tolerance accumulation_tolerance(const Problem& problem, std::int64_t terms, double magnitude);

// Returns the tolerance for sums of `terms` values with random signs, of order 1 each.
Tolerance signed_sum_tolerance(DataType dtype, double terms);

}  // namespace bench::ops
