// SPDX-License-Identifier: Apache-2.0
// The native kernels of batch_norm in training and of its gradients on a CUDA device: their plan
// and their arithmetic. The same source is compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// A row is a block of `columns` channels, which are neighbours in memory (nhwc), or one channel
// (nchw). Strides are in elements. Numbers of tensors are below 0 if the tensor is missing.
//
// training: the forward pass. Writes destination, mean and variance.
// gradient: the gradients. They go through the statistics or take them as given.
struct BatchNormPlan {
  static constexpr const char* kKernel = "batch_norm";
  static constexpr int kColumns = 2;
  enum class Task : std::uint8_t { training, gradient, gradient_with_given_statistics };
  Task task = Task::training;
  int columns = 1;  // 1 or kColumns
  std::int64_t channels = 1, images = 1, plane = 1;
  std::int64_t image_stride = 1, channel_stride = 1, position_stride = 1;
  int source = -1, diff_destination = -1, mean = -1, variance = -1, scale = -1, shift = -1;
  int destination = -1, diff_source = -1, diff_scale = -1, diff_shift = -1;
  Element type = Element::f32;  // data type of the images
  double epsilon = 0;
  Precision precision = Precision::single;

  // By channel of the block. training: number of elements, their means (first) and the sums of
  // squared differences from the mean (second), which are merged as Chan, Golub and LeVeque do
  // (1979). gradient: the sums of diff_destination (first) and of its product with the normalised
  // source (second).
  template <class T>
  struct State {
    T count = T(0);
    T first[kColumns] = {}, second[kColumns] = {};
  };

  BENCH_BOTH std::int64_t size() const { return images * plane; }
  BENCH_BOTH std::int64_t rows() const {
    return size() == 0 ? 0 : (channels + columns - 1) / columns;
  }
  BENCH_BOTH std::int64_t row_size() const { return size(); }

  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    State<typename A::Value> part;
    if (task != Task::training) {
      look_at_gradients(access, row, lane, lanes, part);
    } else {
      look_at_source(access, row, lane, lanes, part);
    }
    return part;
  }
  // Sums of gradients have no number of elements.
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    State<T> both;
    both.count = a.count + b.count;
    const T share = both.count == T(0) ? T(0) : b.count / both.count;
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      if (both.count == T(0)) {
        both.first[k] = a.first[k] + b.first[k];
        both.second[k] = a.second[k] + b.second[k];
        continue;
      }
      const T difference = b.first[k] - a.first[k];
      both.first[k] = a.first[k] + difference * share;
      both.second[k] = a.second[k] + b.second[k] + difference * difference * (a.count * share);
    }
    return both;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    if (task == Task::training) return write_destination(access, row, whole, lane, lanes);
    write_gradients(access, row, whole, lane, lanes);
  }

 private:
  BENCH_BOTH std::int64_t first_channel(std::int64_t row) const { return row * columns; }
  BENCH_BOTH int count_of(std::int64_t row) const {
    const std::int64_t left = channels - first_channel(row);
    return left < columns ? static_cast<int>(left) : columns;
  }
  // Calls use(index, k) for the elements of a lane: element `index` of the images is of channel
  // number k of the block.
  template <class Use>
  BENCH_BOTH_INLINED void for_each_element(std::int64_t row, int lane, int lanes,
                                           const Use& use) const {
    const std::int64_t first = first_channel(row) * channel_stride;
    const int count = count_of(row);
    BENCH_UNROLL_LOADS
    for (std::int64_t i = lane; i < size(); i += lanes) {
      const std::int64_t image = quotient(i, plane);
      const std::int64_t at = first + image * image_stride + (i - image * plane) * position_stride;
      // A constant limit lets the device keep what belongs to a channel in registers.
      BENCH_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        if (k < count) use(at + k * channel_stride, k);
      }
    }
  }
  template <class A>
  BENCH_BOTH typename A::Value statistic(const A& access, int tensor, std::int64_t channel) const {
    return tensor < 0 ? typename A::Value(0) : access.load_statistic(tensor, channel);
  }
  template <class A>
  BENCH_BOTH typename A::Value scale_of(const A& access, std::int64_t channel) const {
    return scale < 0 ? typename A::Value(1) : access.load_statistic(scale, channel);
  }
  template <class A>
  BENCH_BOTH typename A::Value inverse_deviation(typename A::Value spread) const {
    using T = typename A::Value;
    return T(1) / std::sqrt(spread + static_cast<T>(epsilon));
  }

  template <class A>
  BENCH_BOTH void look_at_source(const A& access, std::int64_t row, int lane, int lanes,
                                 State<typename A::Value>& part) const {
    using T = typename A::Value;
    part.count = static_cast<T>(lane < size() ? (size() - lane - 1) / lanes + 1 : 0);
    if (part.count == T(0)) return;
    for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
      part.first[k] += access.load(source, index);
    });
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) part.first[k] /= part.count;
    for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
      const T difference = access.load(source, index) - part.first[k];
      part.second[k] += difference * difference;
    });
  }
  template <class A>
  BENCH_BOTH void look_at_gradients(const A& access, std::int64_t row, int lane, int lanes,
                                    State<typename A::Value>& part) const {
    using T = typename A::Value;
    if (task == Task::gradient_with_given_statistics && diff_scale < 0 && diff_shift < 0) return;
    T centres[kColumns] = {}, factors[kColumns] = {};
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      if (k >= count_of(row)) continue;
      centres[k] = statistic(access, mean, first_channel(row) + k);
      factors[k] = inverse_deviation<A>(statistic(access, variance, first_channel(row) + k));
    }
    for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
      const T diff = access.load(diff_destination, index);
      part.first[k] += diff;
      if (source < 0) return;
      part.second[k] += diff * ((access.load(source, index) - centres[k]) * factors[k]);
    });
  }

  template <class A>
  BENCH_BOTH void write_destination(const A& access, std::int64_t row,
                                    const State<typename A::Value>& whole, int lane,
                                    int lanes) const {
    using T = typename A::Value;
    T deviations[kColumns] = {}, scales[kColumns] = {}, shifts[kColumns] = {};
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      if (k >= count_of(row)) continue;
      const std::int64_t channel = first_channel(row) + k;
      const T spread = whole.second[k] / static_cast<T>(size());
      deviations[k] = std::sqrt(spread + static_cast<T>(epsilon));
      scales[k] = scale_of(access, channel);
      shifts[k] = statistic(access, shift, channel);
      if (k % lanes != lane) continue;
      access.store_statistic(mean, channel, whole.first[k]);
      access.store_statistic(variance, channel, spread);
    }
    for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
      const T normalised = (access.load(source, index) - whole.first[k]) / deviations[k];
      access.store(destination, index, normalised * scales[k] + shifts[k]);
    });
  }
  template <class A>
  BENCH_BOTH void write_gradients(const A& access, std::int64_t row,
                                  const State<typename A::Value>& whole, int lane,
                                  int lanes) const {
    using T = typename A::Value;
    T centres[kColumns] = {}, factors[kColumns] = {}, scales[kColumns] = {};
    T sums[kColumns] = {}, products[kColumns] = {};
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      if (k >= count_of(row)) continue;
      const std::int64_t channel = first_channel(row) + k;
      centres[k] = statistic(access, mean, channel);
      factors[k] = inverse_deviation<A>(statistic(access, variance, channel));
      scales[k] = scale_of(access, channel) * factors[k];
      sums[k] = whole.first[k] / static_cast<T>(size());
      products[k] = whole.second[k] / static_cast<T>(size());
      if (k % lanes != lane) continue;
      if (diff_scale >= 0) access.store_statistic(diff_scale, channel, whole.second[k]);
      if (diff_shift >= 0) access.store_statistic(diff_shift, channel, whole.first[k]);
    }
    if (task == Task::gradient_with_given_statistics) {
      for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
        access.store(diff_source, index, access.load(diff_destination, index) * scales[k]);
      });
      return;
    }
    for_each_element(row, lane, lanes, [&](std::int64_t index, int k) {
      const T normalised = (access.load(source, index) - centres[k]) * factors[k];
      const T diff = access.load(diff_destination, index);
      access.store(diff_source, index, scales[k] * (diff - sums[k] - normalised * products[k]));
    });
  }
};

}  // namespace bench::ops::cuda
