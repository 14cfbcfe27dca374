// SPDX-License-Identifier: Apache-2.0
// The native kernel of softmax on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/power_sum.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

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
  using State = PowerSum<T>;

  BENCH_BOTH std::int64_t rows() const { return dense.size == 0 ? 0 : dense.count(); }
  BENCH_BOTH std::int64_t row_size() const { return dense.size; }
  BENCH_BOTH bool is_forward() const {
    return function == SoftmaxFunction::softmax || function == SoftmaxFunction::logarithm;
  }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    if (!is_forward()) return sum_of_terms(access, row, lane, lanes);
    const std::int64_t first = dense.at(row, 0);
    return sum_powers(dense.size, lane, lanes,
                      [&](std::int64_t i) { return access.load(0, first + i * dense.inner); });
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return merge_sums(a, b);
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const std::int64_t first = dense.at(row, 0);
    const auto load = [&](std::int64_t i) { return access.load(0, first + i * dense.inner); };
    if (is_forward()) {
      const T factor = T(1) / whole.sum, logarithm = std::log(whole.sum);
      for_lane(0, dense.size, lane, lanes, load, [&](std::int64_t i, T x) {
        access.store(1, first + i * dense.inner,
                     function == SoftmaxFunction::softmax ? exp_of(x - whole.maximum) * factor
                                                          : x - whole.maximum - logarithm);
      });
      return;
    }
    const auto load_gradient = [&](std::int64_t i) {
      return access.load(1, first + i * dense.inner);
    };
    for_lane(0, dense.size, lane, lanes, load, load_gradient, [&](std::int64_t i, T y, T diff) {
      access.store(2, first + i * dense.inner,
                   function == SoftmaxFunction::gradient ? y * (diff - whole.sum)
                                                         : diff - exp_of(y) * whole.sum);
    });
  }

 private:
  template <class A>
  BENCH_BOTH State<typename A::Value> sum_of_terms(const A& access, std::int64_t row, int lane,
                                                   int lanes) const {
    using T = typename A::Value;
    const std::int64_t first = dense.at(row, 0);
    State<T> part;
    part.maximum = T(0);
    const auto load = [&](std::int64_t i) {
      const std::int64_t index = first + i * dense.inner;
      const T diff = access.load(1, index);
      return function == SoftmaxFunction::gradient ? access.load(0, index) * diff : diff;
    };
    for_lane(0, dense.size, lane, lanes, load, [&](std::int64_t, T term) { part.sum += term; });
    return part;
  }
};

}  // namespace bench::ops::cuda
