// SPDX-License-Identifier: Apache-2.0
// How far sums of products may be from the reference.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>

namespace bench::ops {

// For outputs of order `magnitude` that sum up `terms` products of random inputs (ops/fill.hpp) in
// any order, with the problem's post-ops behind them.
//
// Floating types are accumulated in f32 (f64: in f64). Each of the additions rounds a partial sum
// of order `magnitude`; the errors are independent, so that they add up to sqrt(terms) of one, and
// 4 of that is more than 20 standard deviations of what a correct kernel shows, while one wrong or
// missing product is of order magnitude / sqrt(terms), hundreds of times as much. tf32 rounds each
// factor to 10 bits, whose errors add up to 2^-10 of the output. Fast accumulation of fp8 cuts
// every product off at 2^-13 of the largest number that it is added with, in place of rounding it
// to f32: the losses have the signs of the products, which are random, so that the same sum of
// sqrt(terms) holds. From some 2000 terms on a missing product may hide in it, as in what the
// hardware loses. Then the output is rounded to its type. A post-op enlarges errors by at most its
// steepest slope. Integers are exact; with a bias (f32) or post-ops one rounding to nearest may
// fall either way.
Tolerance accumulation_tolerance(const Problem& problem, std::int64_t terms, double magnitude);

}  // namespace bench::ops
