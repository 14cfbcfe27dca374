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
    const std::int64_t begin = group * size, end = begin + size;
    const auto load = [&](std::int64_t i) { return access.load(0, i); };
    for_lane(begin, end, lane, lanes, load, [&](std::int64_t, T x) { sum += x; });
    part.count = static_cast<T>(lane < size ? (size - lane - 1) / lanes + 1 : 0);
    part.mean = part.count == T(0) ? T(0) : sum / part.count;
    for_lane(begin, end, lane, lanes, load,
             [&](std::int64_t, T x) { part.squares += (x - part.mean) * (x - part.mean); });
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
    const T factor = T(1) / std::sqrt(spread + static_cast<T>(epsilon));
    const std::int64_t begin = group * size;
    const std::int64_t first = group % groups_per_image * (size / volume);
    const auto load = [&](std::int64_t i) {
      Input<T> input{access.load(0, begin + i), T(1), T(0)};
      if (scale >= 0) input.scale = access.load_statistic(scale, first + quotient(i, volume));
      if (shift >= 0) input.shift = access.load_statistic(shift, first + quotient(i, volume));
      return input;
    };
    for_lane(0, size, lane, lanes, load, [&](std::int64_t i, const Input<T>& input) {
      T value = (input.x - whole.mean) * factor;
      if (scale >= 0) value *= input.scale;
      if (shift >= 0) value += input.shift;
      access.store(destination, begin + i, value);
    });
  }

 private:
  template <class T>
  struct Input {
    T x, scale, shift;
  };
};

}  // namespace bench::ops::cuda
