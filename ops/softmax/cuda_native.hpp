// SPDX-License-Identifier: Apache-2.0
// The native kernel of softmax on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// The plan of a softmax over a dense tensor with `outer` * `inner` rows of `size` elements. The
// elements of a row are `inner` apart. Tensor 0 is the source, 1 the destination.
struct SoftmaxPlan {
  static constexpr const char* kKernel = "softmax";
  std::int64_t outer = 1, size = 1, inner = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;
};

// The maximum of some terms x and the sum of std::exp(x - maximum), computed in one pass. Sums over
// parts of the terms can be merged.
template <class T>
struct OnlineSum {
  T maximum = T(-INFINITY);
  T sum = T(0);
};

template <class T>
BENCH_BOTH void add_term(OnlineSum<T>& total, T x) {
  if (x > total.maximum) {
    total.sum = total.sum * std::exp(total.maximum - x) + T(1);
    total.maximum = x;
  } else {
    // Subtracting two infinities would give NaN.
    total.sum += x == total.maximum ? T(1) : std::exp(x - total.maximum);
  }
}

// Returns the sum over the terms of both parts. A part may have no terms.
template <class T>
BENCH_BOTH OnlineSum<T> merge_sums(const OnlineSum<T>& a, const OnlineSum<T>& b) {
  if (b.sum == T(0)) return a;
  if (a.sum == T(0)) return b;
  OnlineSum<T> both;
  both.maximum = a.maximum < b.maximum ? b.maximum : a.maximum;
  const T a_part = a.maximum == both.maximum ? a.sum : a.sum * std::exp(a.maximum - both.maximum);
  const T b_part = b.maximum == both.maximum ? b.sum : b.sum * std::exp(b.maximum - both.maximum);
  both.sum = a_part + b_part;
  return both;
}

// Returns the first element of row `row`; consecutive elements are `inner` apart.
BENCH_BOTH std::int64_t find_row_start(const SoftmaxPlan& plan, std::int64_t row) {
  return row / plan.inner * plan.size * plan.inner + row % plan.inner;
}

// Returns the sum over the terms of lane `lane`. The `lanes` lanes share a row.
template <class T>
BENCH_BOTH OnlineSum<T> compute_partial_sum(const SoftmaxPlan& plan, const void* source,
                                            std::int64_t start, int lane, int lanes) {
  OnlineSum<T> part;
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    add_term(part, load_as<T>(plan.type, source, start + i * plan.inner));
  }
  return part;
}

// Writes the results of lane `lane`. `row`: the sum over the whole row.
template <class T>
BENCH_BOTH void write_results(const SoftmaxPlan& plan, const void* source, void* destination,
                              std::int64_t start, const OnlineSum<T>& row, int lane, int lanes) {
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    const std::int64_t index = start + i * plan.inner;
    const T x = load_as<T>(plan.type, source, index);
    store_as<T>(plan.type, destination, index, std::exp(x - row.maximum) / row.sum);
  }
}

}  // namespace bench::ops::cuda
