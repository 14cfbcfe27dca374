// SPDX-License-Identifier: Apache-2.0
// The native kernel of rms_norm, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Groups of contiguous elements. Tensor 0 is the source; tensors that are missing have numbers
// below 0.
struct RmsNormPlan {
  static constexpr const char* kKernel = "rms_norm";
  std::int64_t groups = 1, size = 1;
  int scale = -1, destination = 1, mean_square = -1;
  Element type = Element::f32;  // of source and destination
  double epsilon = 0;
  Precision precision = Precision::single;

  template <class T>
  using State = T;  // a sum of squares

  BENCH_BOTH std::int64_t rows() const { return size == 0 ? 0 : groups; }
  BENCH_BOTH std::int64_t row_size() const { return size; }
  template <class A>
  BENCH_BOTH typename A::Value look(const A& access, std::int64_t group, int lane,
                                    int lanes) const {
    using T = typename A::Value;
    T squares = T(0);
    const std::int64_t first = group * size;
    for_lane(
        0, size, lane, lanes, [&](std::int64_t i) { return access.load(0, first + i); },
        [&](std::int64_t, T x) { squares += x * x; });
    return squares;
  }
  template <class T>
  BENCH_BOTH static T merge(const T& a, const T& b) {
    return a + b;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t group, const typename A::Value& squares,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const T mean = squares / static_cast<T>(size);
    if (lane == 0 && mean_square >= 0) access.store_statistic(mean_square, group, mean);
    const T factor = T(1) / std::sqrt(mean + static_cast<T>(epsilon));
    const std::int64_t first = group * size;
    const auto load = [&](std::int64_t i) { return access.load(0, first + i); };
    // The two loops are apart, so that the compiler vectorises both.
    if (scale < 0) {
      for_lane(0, size, lane, lanes, load,
               [&](std::int64_t i, T x) { access.store(destination, first + i, x * factor); });
      return;
    }
    for_lane(
        0, size, lane, lanes, load, [&](std::int64_t i) { return access.load_statistic(scale, i); },
        [&](std::int64_t i, T x, T scaling) {
          access.store(destination, first + i, x * factor * scaling);
        });
  }
};

}  // namespace bench::ops::cuda
