// SPDX-License-Identifier: Apache-2.0
// Input data: random, reproducible, and small enough that sums stay well inside every data type.
#pragma once

#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {

// Returns values for one tensor, exactly representable in its data type. They depend only on (seed,
// tensor index, element index).
// Floating-point types: uniform in [-1, 1]. Weights are scaled by 1/sqrt(fan-in) so that outputs
// stay of order 1. Values are positive and away from 0 if the operator requires it (batch_norm's
// variance, log, sqrt, div).
// Integers: s8 in [-8, 8] (weights: even values), u8 in [0, 16].
// Indices (ops/tensor.hpp): a random permutation of all valid values, then another one. So n
// indices below m have exactly min(n, m) different values. A bias is also representable in
// representable_type(). For the gradient of a maximum in 16 bits, all elements of every window of
// up to 256 differ. With equal elements, each library chooses its own maximum.
std::vector<double> random_values(const Problem& problem, std::size_t tensor, std::uint64_t seed);

// Returns the narrowest type that represents all values of a tensor of the problem. Libraries may
// store the tensor in this type. It is the tensor's own type, except for a bias: there it is the
// problem's narrow floating-point type (bf16 for 8-bit types).
DataType representable_type(const Problem& problem, const Tensor& tensor);

// Fills `count` 16-bit units with a pattern that is a finite, normal, non-zero number in every data
// type. Sign and mantissa are random. The same memory can be the input of cases of all data types,
// and no timed kernel processes denormals or NaN. It must not be the memory of indices
// (BufferRole::index).
void fill_any_type(std::uint16_t* units, std::size_t count, std::uint64_t seed);

}  // namespace bench::ops
