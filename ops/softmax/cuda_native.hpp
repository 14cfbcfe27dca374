// SPDX-License-Identifier: Apache-2.0
// The native kernel of softmax on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// A dense tensor with `outer` * `inner` rows of `size` elements. The elements of a row are `inner`
// apart. Tensor 0 is the source, 1 the destination.
struct SoftmaxPlan {
  static constexpr const char* kKernel = "softmax";
  std::int64_t outer = 1, size = 1, inner = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;
};

// Computes the maximum and the sum of std::exp(x - maximum) in one pass, in any number
// of parts.

template <class T>
struct OnlineSum {
  T maximum = T(-INFINITY);
  T sum = T(0);
};

template <class T>
BENCH_BOTH void add_to(OnlineSum<T>& so_far, T x) {
  if (x > so_far.maximum) {
    so_far.sum = so_far.sum * std::exp(so_far.maximum - x) + T(1);
    so_far.maximum = x;
  } else {
    // Subtracting two infinities would give NaN.
    so_far.sum += x == so_far.maximum ? T(1) : std::exp(x - so_far.maximum);
  }
}

// A part without elements changes nothing.
template <class T>
BENCH_BOTH OnlineSum<T> merged(const OnlineSum<T>& a, const OnlineSum<T>& b) {
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
BENCH_BOTH std::int64_t row_start(const SoftmaxPlan& plan, std::int64_t row) {
  return row / plan.inner * plan.size * plan.inner + row % plan.inner;
}

// Returns the sum of worker `lane` of the `lanes` workers on a row.
template <class T>
BENCH_BOTH OnlineSum<T> sum_part(const SoftmaxPlan& plan, const void* source, std::int64_t start,
                                 int lane, int lanes) {
  OnlineSum<T> part;
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    add_to(part, load_as<T>(plan.type, source, start + i * plan.inner));
  }
  return part;
}

template <class T>
BENCH_BOTH void write_part(const SoftmaxPlan& plan, const void* source, void* destination,
                           std::int64_t start, const OnlineSum<T>& row, int lane, int lanes) {
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    const std::int64_t place = start + i * plan.inner;
    const T x = load_as<T>(plan.type, source, place);
    store_as<T>(plan.type, destination, place, std::exp(x - row.maximum) / row.sum);
  }
}

}  // namespace bench::ops::cuda
