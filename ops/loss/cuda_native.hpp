// SPDX-License-Identifier: Apache-2.0
// The native kernel of loss, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"
#include "ops/cuda/kernels/vector_math.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Tensor 0 is the source, tensor 1 has the labels. forward: tensor 2 has the losses. gradient:
// tensor 2 is their gradient, tensor 3 the gradient of the source.
struct LossPlan {
  static constexpr const char* kKernel = "loss";
  std::int64_t batch = 1, classes = 1;
  bool gradient = false;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // The maximum of some elements, and the sum of exp(x - maximum) over them.
  template <class T>
  struct State {
    T maximum, sum;
  };

  BENCH_BOTH std::int64_t rows() const { return batch; }
  // Reads its elements twice: a running maximum would need an exponential for each change.
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    const std::int64_t first = row * classes;
    auto maximum = to_ordered(T(-INFINITY));
    for (std::int64_t i = lane; i < classes; i += lanes) {
      const auto x = to_ordered(access.load(0, first + i));
      maximum = maximum < x ? x : maximum;
    }
    State<T> part{from_ordered(maximum), T(0)};
    for (std::int64_t i = lane; i < classes; i += lanes) {
      part.sum += exp_of(access.load(0, first + i) - part.maximum);
    }
    return part;
  }
  // A part without elements has the sum 0.
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    if (b.sum == T(0)) return a;
    if (a.sum == T(0)) return b;
    const T maximum = a.maximum < b.maximum ? b.maximum : a.maximum;
    return {maximum, a.sum * exp_of(a.maximum - maximum) + b.sum * exp_of(b.maximum - maximum)};
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const std::int64_t first = row * classes;
    const std::int64_t label = access.load_index(1, row);
    if (!gradient) {
      if (lane != 0) return;
      const T x = access.load(0, first + label);
      return access.store(2, row, whole.maximum - x + std::log(whole.sum));
    }
    const T weight = access.load(2, row);
    const T factor = weight / whole.sum;
    for (std::int64_t i = lane; i < classes; i += lanes) {
      access.store(3, first + i, exp_of(access.load(0, first + i) - whole.maximum) * factor);
    }
    if (label % lanes != lane) return;
    const T x = access.load(0, first + label);
    access.store(3, first + label, exp_of(x - whole.maximum) * factor - weight);
  }
};

}  // namespace bench::ops::cuda
