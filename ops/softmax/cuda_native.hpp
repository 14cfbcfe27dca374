// SPDX-License-Identifier: Apache-2.0
// The native kernel of softmax on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

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

// forward: tensor 0 is the source, 1 the destination. Gradients: tensor 0 is the destination, 1 its
// gradient, 2 that of the source.
enum class SoftmaxFunction : std::uint8_t { softmax, logarithm, gradient, logarithm_gradient };

struct SoftmaxPlan {
  static constexpr const char* kKernel = "softmax";
  DenseRows dense;
  SoftmaxFunction function = SoftmaxFunction::softmax;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // The state of a gradient has the maximum 0 and the sum of the terms.
  template <class T>
  using State = OnlineSum<T>;

  BENCH_BOTH std::int64_t rows() const { return dense.size == 0 ? 0 : dense.count(); }
  BENCH_BOTH bool is_forward() const {
    return function == SoftmaxFunction::softmax || function == SoftmaxFunction::logarithm;
  }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    State<T> part;
    if (!is_forward()) part.maximum = T(0);
    for (std::int64_t i = lane; i < dense.size; i += lanes) {
      const std::int64_t index = dense.at(row, i);
      if (is_forward()) {
        add_term(part, access.load(0, index));
      } else {
        const T y = function == SoftmaxFunction::gradient ? access.load(0, index) : T(1);
        part.sum += y * access.load(1, index);
      }
    }
    return part;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return merge_sums(a, b);
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    for (std::int64_t i = lane; i < dense.size; i += lanes) {
      const std::int64_t index = dense.at(row, i);
      const T x = access.load(0, index);
      if (is_forward()) {
        access.store(1, index, result(x, whole));
      } else {
        access.store(2, index, gradient(x, access.load(1, index), whole.sum));
      }
    }
  }

 private:
  template <class T>
  BENCH_BOTH T result(T x, const State<T>& whole) const {
    return function == SoftmaxFunction::softmax ? std::exp(x - whole.maximum) / whole.sum
                                                : x - whole.maximum - std::log(whole.sum);
  }
  template <class T>
  BENCH_BOTH T gradient(T y, T diff, T sum) const {
    return function == SoftmaxFunction::gradient ? y * (diff - sum) : diff - std::exp(y) * sum;
  }
};

}  // namespace bench::ops::cuda
