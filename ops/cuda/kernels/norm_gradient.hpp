// SPDX-License-Identifier: Apache-2.0
// The gradients of layer_norm, rms_norm and group_norm, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Groups of `size` contiguous elements. The first rows are the groups: they compute diff_source.
// The other rows compute diff_scale and diff_shift. If each element of a group has a value of its
// own, they are blocks of kColumns elements, whose sums are those over all groups. In a group norm,
// `volume` neighbours share a value and `groups_per_image` groups have different ones (as in
// LayerNormPlan); a row is then a channel, with its elements in all images. Numbers of tensors are
// below 0 if the tensor is missing. `root` is the statistic whose root, with epsilon, divides.
struct NormGradientPlan {
  static constexpr const char* kKernel = "norm_gradient";
  static constexpr int kColumns = 8;
  std::int64_t groups = 1, size = 1;
  std::int64_t groups_per_image = 1, volume = 1;
  int source = 0, mean = -1, root = 1, scale = -1, diff_destination = 2;
  int diff_source = 3, diff_scale = -1, diff_shift = -1;
  Element type = Element::f32;  // of source, diff_destination and diff_source
  double epsilon = 0;
  Precision precision = Precision::single;

  // Let x be the normalised source and g = scale*diff_destination. A group has the sums of g*x and
  // of g at index 0. A block of elements has, by element, the sums of diff_destination*x and of
  // diff_destination; a channel has them at index 0.
  template <class T>
  struct State {
    T products[kColumns] = {};
    T sums[kColumns] = {};
  };

  BENCH_BOTH bool has_channels() const { return groups_per_image > 1 || volume > 1; }
  BENCH_BOTH std::int64_t channels_per_group() const { return size / volume; }
  BENCH_BOTH std::int64_t images() const { return groups / groups_per_image; }
  BENCH_BOTH std::int64_t blocks() const {
    if (diff_scale < 0 && diff_shift < 0) return 0;
    return has_channels() ? groups_per_image * channels_per_group()
                          : (size + kColumns - 1) / kColumns;
  }
  BENCH_BOTH std::int64_t rows() const { return size == 0 ? 0 : groups + blocks(); }
  // A lane has all columns of a block.
  BENCH_BOTH std::int64_t row_size() const {
    const std::int64_t terms = has_channels() ? images() * volume : groups * kColumns;
    return blocks() == 0 || size > terms ? size : terms;
  }

  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    State<typename A::Value> part;
    if (row < groups) {
      look_at_group(access, row, lane, lanes, part);
      return part;
    }
    if (has_channels()) {
      look_at_channel(access, row - groups, lane, lanes, part);
      return part;
    }
    const std::int64_t first = (row - groups) * kColumns;
    // With a constant number of elements, the compiler keeps their sums in registers.
    if (size - first >= kColumns) {
      look_at_columns(access, first, kColumns, lane, lanes, part);
    } else {
      look_at_columns(access, first, static_cast<int>(size - first), lane, lanes, part);
    }
    return part;
  }
  template <class S>
  BENCH_BOTH static S merge(const S& a, const S& b) {
    S both;
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      both.products[k] = a.products[k] + b.products[k];
      both.sums[k] = a.sums[k] + b.sums[k];
    }
    return both;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    if (row < groups) return write_group(access, row, whole, lane, lanes);
    if (has_channels()) {
      if (lane != 0) return;
      if (diff_scale >= 0) access.store_statistic(diff_scale, row - groups, whole.products[0]);
      if (diff_shift >= 0) access.store_statistic(diff_shift, row - groups, whole.sums[0]);
      return;
    }
    const std::int64_t first = (row - groups) * kColumns;
    const int count = size - first < kColumns ? static_cast<int>(size - first) : kColumns;
    // A constant limit lets the device keep the sums in registers.
    BENCH_UNROLL
    for (int k = 0; k < kColumns; ++k) {
      if (k % lanes != lane || k >= count) continue;
      if (diff_scale >= 0) access.store_statistic(diff_scale, first + k, whole.products[k]);
      if (diff_shift >= 0) access.store_statistic(diff_shift, first + k, whole.sums[k]);
    }
  }

 private:
  template <class A>
  BENCH_BOTH typename A::Value mean_of(const A& access, std::int64_t group) const {
    return mean < 0 ? typename A::Value(0) : access.load_statistic(mean, group);
  }
  template <class A>
  BENCH_BOTH typename A::Value factor_of(const A& access, std::int64_t group) const {
    using T = typename A::Value;
    return T(1) / std::sqrt(access.load_statistic(root, group) + static_cast<T>(epsilon));
  }
  // Calls use(i, x, g) for the elements of a lane. The loops are apart, so that the compiler
  // vectorises each.
  template <class A, class Use>
  BENCH_BOTH void for_each_element(const A& access, std::int64_t group, int lane, int lanes,
                                   const Use& use) const {
    using T = typename A::Value;
    const T centre = mean_of(access, group), factor = factor_of(access, group);
    const std::int64_t first = group * size;
    if (scale < 0) {
      BENCH_UNROLL_LOADS
      for (std::int64_t i = lane; i < size; i += lanes) {
        use(i, (access.load(source, first + i) - centre) * factor,
            access.load(diff_destination, first + i));
      }
      return;
    }
    if (has_channels()) {
      const std::int64_t channel = group % groups_per_image * channels_per_group();
      BENCH_UNROLL_LOADS
      for (std::int64_t i = lane; i < size; i += lanes) {
        use(i, (access.load(source, first + i) - centre) * factor,
            access.load(diff_destination, first + i) *
                access.load_statistic(scale, channel + quotient(i, volume)));
      }
      return;
    }
    BENCH_UNROLL_LOADS
    for (std::int64_t i = lane; i < size; i += lanes) {
      use(i, (access.load(source, first + i) - centre) * factor,
          access.load(diff_destination, first + i) * access.load_statistic(scale, i));
    }
  }
  template <class A>
  BENCH_BOTH void look_at_channel(const A& access, std::int64_t channel, int lane, int lanes,
                                  State<typename A::Value>& part) const {
    using T = typename A::Value;
    const std::int64_t in_group = channel % channels_per_group() * volume;
    T products = T(0), sums = T(0);
    for (std::int64_t image = 0; image < images(); ++image) {
      const std::int64_t group = image * groups_per_image + channel / channels_per_group();
      const T centre = mean_of(access, group), factor = factor_of(access, group);
      const std::int64_t first = group * size + in_group;
      BENCH_UNROLL_LOADS
      for (std::int64_t i = lane; i < volume; i += lanes) {
        const T diff = access.load(diff_destination, first + i);
        products += diff * ((access.load(source, first + i) - centre) * factor);
        sums += diff;
      }
    }
    part.products[0] = products;
    part.sums[0] = sums;
  }
  template <class A>
  BENCH_BOTH void look_at_group(const A& access, std::int64_t group, int lane, int lanes,
                                State<typename A::Value>& part) const {
    using T = typename A::Value;
    T products = T(0), sums = T(0);
    for_each_element(access, group, lane, lanes, [&](std::int64_t, T x, T g) {
      products += g * x;
      sums += g;
    });
    part.products[0] = products;
    part.sums[0] = sums;
  }
  template <class A>
  BENCH_BOTH void look_at_columns(const A& access, std::int64_t first, int count, int lane,
                                  int lanes, State<typename A::Value>& part) const {
    using T = typename A::Value;
    for (std::int64_t group = lane; group < groups; group += lanes) {
      const T centre = mean_of(access, group), factor = factor_of(access, group);
      BENCH_UNROLL
      for (int k = 0; k < kColumns; ++k) {
        if (k >= count) continue;
        const std::int64_t index = group * size + first + k;
        const T diff = access.load(diff_destination, index);
        part.products[k] += diff * ((access.load(source, index) - centre) * factor);
        part.sums[k] += diff;
      }
    }
  }
  template <class A>
  BENCH_BOTH void write_group(const A& access, std::int64_t group,
                              const State<typename A::Value>& whole, int lane, int lanes) const {
    using T = typename A::Value;
    const T factor = factor_of(access, group);
    const T product = whole.products[0] / static_cast<T>(size);
    const T sum = mean < 0 ? T(0) : whole.sums[0] / static_cast<T>(size);
    const std::int64_t first = group * size;
    for_each_element(access, group, lane, lanes,
                     [this, &access, first, factor, sum, product](std::int64_t i, T x, T g) {
                       access.store(diff_source, first + i, factor * (g - sum - x * product));
                     });
  }
};

}  // namespace bench::ops::cuda
