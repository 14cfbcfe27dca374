// SPDX-License-Identifier: Apache-2.0
// The allowed error of sums of products.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>

namespace bench::ops {

// For outputs of order `magnitude` that sum up `terms` products of random inputs (ops/fill.hpp) in
// any order, followed by the problem's post-ops.
//
// Floating-point types are accumulated in f32 (f64: in f64). Each addition rounds a partial sum of
// order `magnitude`. The errors are independent, so they add up to sqrt(terms) of one. The
// tolerance is 4 times that: more than 20 standard deviations of what a correct kernel shows. One
// wrong or missing product is of order magnitude / sqrt(terms), hundreds of times as much.
//
// tf32 rounds each factor to 10 bits; these errors add up to 2^-10 of the output.
//
// Fast accumulation of fp8 truncates every product at 2^-13 of the largest number that it is added
// to, instead of rounding it to f32. The losses have the random signs of the products, so the same
// sqrt(terms) applies. From about 2000 terms on, a missing product may be hidden by this tolerance,
// as by what the hardware loses.
//
// Finally the output is rounded to its type. A post-op enlarges errors by at most its steepest
// slope. Integers are exact. With a bias (f32) or post-ops, one rounding to nearest may go either
// way.
Tolerance accumulation_tolerance(const Problem& problem, std::int64_t terms, double magnitude);

}  // namespace bench::ops
