// SPDX-License-Identifier: Apache-2.0
// The native kernel of layer_norm on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Some elements of a group: their number, mean and sum of squared differences from the mean. Two
// parts are merged as Chan, Golub and LeVeque do (1979), so that a large mean does not hide the
// variance.
template <class T>
struct GroupPart {
  T count = T(0), mean = T(0), squares = T(0);
};

// Groups of contiguous elements, of layer_norm and group_norm. Tensor 0 is the source; tensors that
// are missing have numbers below 0. Mean and variance are outputs. Scale and shift of a layer norm
// have one value per element of a group. Those of a group norm have one per channel, that is per
// `volume` elements, and `groups_per_image` groups with values of their own.
struct LayerNormPlan {
  static constexpr const char* kKernel = "layer_norm";
  std::int64_t groups = 1, size = 1;
  std::int64_t groups_per_image = 1, volume = 1;
  int scale = -1, shift = -1, destination = 1, mean = -1, variance = -1;
  Element type = Element::f32;  // of source and destination
  double epsilon = 0;
  Precision precision = Precision::single;

  template <class T>
  using State = GroupPart<T>;

  BENCH_BOTH std::int64_t rows() const { return size == 0 ? 0 : groups; }
  BENCH_BOTH std::int64_t row_size() const { return size; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t group, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    State<T> part;
    T sum = T(0);
    BENCH_UNROLL_LOADS
    for (std::int64_t i = lane; i < size; i += lanes) {
      sum += access.load(0, group * size + i);
    }
    part.count = static_cast<T>(lane < size ? (size - lane - 1) / lanes + 1 : 0);
    part.mean = part.count == T(0) ? T(0) : sum / part.count;
    BENCH_UNROLL_LOADS
    for (std::int64_t i = lane; i < size; i += lanes) {
      const T difference = access.load(0, group * size + i) - part.mean;
      part.squares += difference * difference;
    }
    return part;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    if (b.count == T(0)) return a;
    State<T> both;
    both.count = a.count + b.count;
    const T difference = b.mean - a.mean;
    both.mean = a.mean + difference * (b.count / both.count);
    both.squares =
        a.squares + b.squares + difference * difference * (a.count * b.count / both.count);
    return both;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t group, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const T spread = whole.squares / static_cast<T>(size);
    if (lane == 0 && mean >= 0) access.store_statistic(mean, group, whole.mean);
    if (lane == 0 && variance >= 0) access.store_statistic(variance, group, spread);
    const T deviation = std::sqrt(spread + static_cast<T>(epsilon));
    const std::int64_t first = group % groups_per_image * (size / volume);
    // for_lane() would not be vectorised on the CPU here.
    BENCH_UNROLL_LOADS
    for (std::int64_t i = lane; i < size; i += lanes) {
      const std::int64_t index = group * size + i;
      const std::int64_t k = volume == 1 ? first + i : first + quotient(i, volume);
      T value = (access.load(0, index) - whole.mean) / deviation;
      if (scale >= 0) value *= access.load_statistic(scale, k);
      if (shift >= 0) value += access.load_statistic(shift, k);
      access.store(destination, index, value);
    }
  }
};

}  // namespace bench::ops::cuda
