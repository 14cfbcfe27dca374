// SPDX-License-Identifier: Apache-2.0
// The native kernel of mse, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Tensors 0 and 1 are the source and the target. forward: tensor 2 has the means. gradient: tensor
// 2 is their gradient, tensor 3 that of the source.
struct MsePlan {
  static constexpr const char* kKernel = "mse";
  std::int64_t batch = 1, size = 1;
  bool gradient = false;
  Element type = Element::f32;
  Precision precision = Precision::single;

  template <class T>
  struct State {
    T sum;
  };

  BENCH_BOTH std::int64_t rows() const { return batch; }
  BENCH_BOTH std::int64_t row_size() const { return size; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    T sum = T(0);
    if (gradient) return {sum};
    for_lane(
        row * size, (row + 1) * size, lane, lanes,
        [&](std::int64_t i) { return access.load(0, i); },
        [&](std::int64_t i) { return access.load(1, i); },
        [&](std::int64_t, T x, T target) { sum += (x - target) * (x - target); });
    return {sum};
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return {a.sum + b.sum};
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    if (!gradient) {
      if (lane == 0) access.store(2, row, whole.sum / static_cast<T>(size));
      return;
    }
    const T factor = T(2) * access.load(2, row) / static_cast<T>(size);
    for_lane(
        row * size, (row + 1) * size, lane, lanes,
        [&](std::int64_t i) { return access.load(0, i); },
        [&](std::int64_t i) { return access.load(1, i); },
        [&](std::int64_t i, T x, T target) { access.store(3, i, (x - target) * factor); });
  }
};

}  // namespace bench::ops::cuda
