// SPDX-License-Identifier: Apache-2.0
// The native kernel of layer_norm on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Groups of `size` contiguous elements. Tensor 0 is the source; scale and shift have numbers below
// 0 if they are missing.
struct LayerNormPlan {
  static constexpr const char* kKernel = "layer_norm";
  std::int64_t groups = 1, size = 1;
  int scale = -1, shift = -1, destination = 1;
  Element type = Element::f32;      // of source and destination
  Element of_group = Element::f32;  // of scale and shift
  double epsilon = 0;
  Precision precision = Precision::single;
};

// The next two functions return the partial sum of worker `lane` of `lanes` workers, for the group
// that starts at `first`. The squares are summed after the mean is known, so that they lose no
// precision if the mean is large.
template <class T>
BENCH_BOTH T part_of_sum(const LayerNormPlan& plan, const void* source, std::int64_t first,
                         int lane, int lanes) {
  T sum = T(0);
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    sum += load_as<T>(plan.type, source, first + i);
  }
  return sum;
}

template <class T>
BENCH_BOTH T part_of_squares(const LayerNormPlan& plan, const void* source, std::int64_t first,
                             T mean, int lane, int lanes) {
  T sum = T(0);
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    const T difference = load_as<T>(plan.type, source, first + i) - mean;
    sum += difference * difference;
  }
  return sum;
}

template <class T>
BENCH_BOTH void write_normalised(const LayerNormPlan& plan, const Addresses& tensors,
                                 std::int64_t first, T mean, T squares, int lane, int lanes) {
  const T variance = squares / static_cast<T>(plan.size);
  const T standard_deviation = std::sqrt(variance + static_cast<T>(plan.epsilon));
  for (std::int64_t i = lane; i < plan.size; i += lanes) {
    T value = (load_as<T>(plan.type, tensors.at[0], first + i) - mean) / standard_deviation;
    if (plan.scale >= 0) value *= load_as<T>(plan.of_group, tensors.at[plan.scale], i);
    if (plan.shift >= 0) value += load_as<T>(plan.of_group, tensors.at[plan.shift], i);
    store_as<T>(plan.type, tensors.at[plan.destination], first + i, value);
  }
}

}  // namespace bench::ops::cuda
