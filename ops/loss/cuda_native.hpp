// SPDX-License-Identifier: Apache-2.0
// The native kernel of loss, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/power_sum.hpp"

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

  template <class T>
  using State = PowerSum<T>;

  BENCH_BOTH std::int64_t rows() const { return batch; }
  BENCH_BOTH std::int64_t row_size() const { return classes; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    const std::int64_t first = row * classes;
    return sum_powers(classes, lane, lanes,
                      [&](std::int64_t i) { return access.load(0, first + i); });
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return merge_sums(a, b);
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
    for_lane(
        first, first + classes, lane, lanes, [&](std::int64_t i) { return access.load(0, i); },
        [&](std::int64_t i, T x) { access.store(3, i, exp_of(x - whole.maximum) * factor); });
    if (label % lanes != lane) return;
    const T x = access.load(0, first + label);
    access.store(3, first + label, exp_of(x - whole.maximum) * factor - weight);
  }
};

}  // namespace bench::ops::cuda
