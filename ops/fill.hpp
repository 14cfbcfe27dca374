// SPDX-License-Identifier: Apache-2.0
// Input data: random, reproducible, of a size that keeps sums well inside every data type.
#pragma once

#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {

// Values for one tensor, exactly representable in its data type. Depends only on (seed, tensor
// index, element index). Floating types: uniform in [-1, 1], weights scaled by 1/sqrt(fan-in) so
// that outputs stay of order 1; positive and away from 0 where the operator demands it
// (batch_norm's variance, log, sqrt, div). Integers: s8 in [-8, 8] (weights: even ones), u8 in [0,
// 16].
// A bias is representable in the narrow floating type of the problem too (of 8-bit ones in bf16),
// since libraries may hold it so. Where the gradient of a maximum is taken in 16 bits the elements
// of every window of up to 256 differ: which of two equal ones is the maximum is the library's own.
std::vector<double> random_values(const Problem& problem, std::size_t tensor, std::uint64_t seed);

// Fills `words` 16-bit units with a pattern that is a finite, normal, non-zero number in every data
// type (sign and mantissa random): one arena serves cases of all data types, and no timed kernel
// meets denormals or NaN.
void fill_any_type(std::uint16_t* units, std::size_t count, std::uint64_t seed);

}  // namespace bench::ops
