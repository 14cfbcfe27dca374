// SPDX-License-Identifier: Apache-2.0
// The maximum of some terms x and the sum of exp(x - maximum), as softmax and losses need them.
// C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"
#include "ops/cuda/kernels/vector_math.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Without terms, the sum is 0.
template <class T>
struct PowerSum {
  T maximum = T(-INFINITY);
  T sum = T(0);
};

// Returns the sum over the terms of both parts. A part may have no terms.
template <class T>
BENCH_BOTH PowerSum<T> merge_sums(const PowerSum<T>& a, const PowerSum<T>& b) {
  if (b.sum == T(0)) return a;
  if (a.sum == T(0)) return b;
  const T maximum = a.maximum < b.maximum ? b.maximum : a.maximum;
  return {maximum, a.sum * exp_of(a.maximum - maximum) + b.sum * exp_of(b.maximum - maximum)};
}

// Returns the sum over the terms load(i) of a lane, whose i are below `size`. Loads them twice: a
// running maximum would need an exponential for each change.
template <class Load>
BENCH_BOTH auto sum_powers(std::int64_t size, int lane, int lanes, const Load& load) {
  using T = decltype(load(size));
  auto maximum = to_ordered(T(-INFINITY));
  for_lane(0, size, lane, lanes, load, [&](std::int64_t, T x) {
    const auto ordered = to_ordered(x);
    maximum = maximum < ordered ? ordered : maximum;
  });
  PowerSum<T> part{from_ordered(maximum), T(0)};
  // Subtracting two infinities would give NaN.
  const T base = part.maximum == T(-INFINITY) ? T(0) : part.maximum;
  for_lane(0, size, lane, lanes, load, [&](std::int64_t, T x) { part.sum += exp_of(x - base); });
  return part;
}

}  // namespace bench::ops::cuda
