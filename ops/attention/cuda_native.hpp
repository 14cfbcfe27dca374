// SPDX-License-Identifier: Apache-2.0
// The plan of attention, and its arithmetic on a CUDA device. The same source is compiled for the
// device and for the CPU, where tests run it; cuda_native_cpu.hpp is the fast kernel for CPUs.
// C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Keys from `begin` on, before `end`.
struct KeyRange {
  std::int64_t begin = 0, end = 0;
};

// Tensor 0 is the query, 1 the key, 2 the value, 3 the destination. In training, 4 is log_sum,
// which the forward pass writes. Gradients read it; 5 is the gradient of the destination, 6 to 8
// are those of query, key and value. The queries of all heads that share a head of keys are the
// rows of one product: row r belongs to head r / q_len of the group.
struct AttentionPlan {
  static constexpr const char* kKernel = "attention";
  static constexpr std::int64_t kMaxLengths = 256;  // a plan is passed to a kernel by value
  std::int64_t batch = 1, heads = 1, kv_heads = 1, q_len = 1, kv_len = 1, head_dim = 1;
  std::int64_t window = 1;
  bool is_causal = false;
  bool has_lengths = false;
  bool is_gradient = false;  // cuda_native_gradient.hpp
  bool writes_log_sum = false;
  Element type = Element::f32;
  Precision precision = Precision::single;
  std::int64_t lengths[kMaxLengths] = {};

  BENCH_BOTH std::int64_t groups() const { return batch * kv_heads; }
  // Returns the number of rows of a group.
  BENCH_BOTH std::int64_t rows() const { return heads / kv_heads * q_len; }
  // Returns the keys that a row of a group attends to.
  BENCH_BOTH KeyRange keys(std::int64_t group, std::int64_t row) const {
    const std::int64_t length = has_lengths ? lengths[group / kv_heads] : kv_len;
    if (!is_causal) return {0, length};
    // The last query is at the position of the last key.
    const std::int64_t end = row % q_len + length - q_len + 1;
    if (end <= 0) return {0, 0};
    return {end > window ? end - window : 0, end};
  }
  // Returns the position of a row's first element in query and destination.
  BENCH_BOTH std::int64_t row_begin(std::int64_t group, std::int64_t row) const {
    return (group * rows() + row) * head_dim;
  }
  // Returns the position of a row in log_sum.
  BENCH_BOTH std::int64_t row_number(std::int64_t group, std::int64_t row) const {
    return group * rows() + row;
  }
  // Returns the position of a key's first element in key and value.
  BENCH_BOTH std::int64_t key_begin(std::int64_t group, std::int64_t key) const {
    return (group * kv_len + key) * head_dim;
  }
};

// The work of one block of `kLanes` lanes: a few rows of a group, and as many elements of the heads
// as there are lanes. The rows share what is read of keys and values. All lanes execute the steps
// of a block in this order, and wait for each other after each of them:
//   begin; for each tile of keys: score, weigh, accumulate; write
template <class T, int kLanes>
struct AttentionBlock {
  static constexpr int kRows = 4;
  // Shared by the lanes.
  struct Shared {
    T scores[kRows][kLanes];
    T weights[kRows][kLanes];
  };
  // The state of one lane, which computes one element of each row.
  struct Lane {
    T sum[kRows];      // sum of value*weight
    T total[kRows];    // sum of the weights
    T largest[kRows];  // largest score so far
  };

  const AttentionPlan& plan;
  Access<T> access;
  std::int64_t group, first_row, first_element;

  BENCH_BOTH static std::int64_t tiles_of_rows(const AttentionPlan& plan) {
    return (plan.rows() + kRows - 1) / kRows;
  }
  BENCH_BOTH static std::int64_t tiles_of_elements(const AttentionPlan& plan) {
    return (plan.head_dim + kLanes - 1) / kLanes;
  }
  BENCH_BOTH static std::int64_t blocks(const AttentionPlan& plan) {
    return plan.groups() * tiles_of_rows(plan) * tiles_of_elements(plan);
  }
  BENCH_BOTH static AttentionBlock at(const AttentionPlan& plan, const Access<T>& access,
                                      std::int64_t block) {
    const std::int64_t elements = block % tiles_of_elements(plan);
    const std::int64_t tile = block / tiles_of_elements(plan);
    return {plan, access, tile / tiles_of_rows(plan), tile % tiles_of_rows(plan) * kRows,
            elements * kLanes};
  }

  BENCH_BOTH KeyRange keys_of_row(int r) const {
    return first_row + r < plan.rows() ? plan.keys(group, first_row + r) : KeyRange{};
  }
  // Returns the keys that any of the rows attends to.
  BENCH_BOTH KeyRange keys() const {
    KeyRange all{plan.kv_len, 0};
    for (int r = 0; r < kRows; ++r) {
      const KeyRange range = keys_of_row(r);
      if (range.begin >= range.end) continue;
      if (range.begin < all.begin) all.begin = range.begin;
      if (range.end > all.end) all.end = range.end;
    }
    return all;
  }
  BENCH_BOTH void begin(Lane& state) const {
    for (int r = 0; r < kRows; ++r) {
      state.sum[r] = T(0);
      state.total[r] = T(0);
      state.largest[r] = T(-INFINITY);
    }
  }
  // Each lane multiplies one key of the tile with all rows.
  BENCH_BOTH void score(Shared& shared, std::int64_t tile, int lane) const {
    const std::int64_t key = tile + lane;
    T products[kRows] = {};
    bool is_used = false;
    for (int r = 0; r < kRows; ++r) is_used = is_used || attends(r, key);
    if (is_used) {
      for (std::int64_t d = 0; d < plan.head_dim; ++d) {
        const T x = access.load(1, plan.key_begin(group, key) + d);
        BENCH_UNROLL
        for (int r = 0; r < kRows; ++r) {
          if (first_row + r >= plan.rows()) continue;
          products[r] += x * access.load(0, plan.row_begin(group, first_row + r) + d);
        }
      }
    }
    const T scale = T(1) / std::sqrt(static_cast<T>(plan.head_dim));
    BENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      shared.scores[r][lane] = attends(r, key) ? products[r] * scale : T(-INFINITY);
    }
  }
  // All lanes find the same maximum, and scale what they have with it.
  BENCH_BOTH void weigh(Shared& shared, Lane& state, int lane) const {
    BENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      T largest = state.largest[r];
      for (int j = 0; j < kLanes; ++j) {
        if (shared.scores[r][j] > largest) largest = shared.scores[r][j];
      }
      // Subtracting two infinities would give NaN.
      const T factor = state.largest[r] == largest ? T(1) : std::exp(state.largest[r] - largest);
      state.sum[r] *= factor;
      state.total[r] *= factor;
      state.largest[r] = largest;
      const T score = shared.scores[r][lane];
      shared.weights[r][lane] = score == T(-INFINITY) ? T(0) : std::exp(score - largest);
    }
  }
  BENCH_BOTH void accumulate(const Shared& shared, Lane& state, std::int64_t tile, std::int64_t end,
                             int lane) const {
    const std::int64_t element = first_element + lane;
    const int count = static_cast<int>(end - tile < kLanes ? end - tile : kLanes);
    for (int j = 0; j < count; ++j) {
      const T value = element < plan.head_dim
                          ? access.load(2, plan.key_begin(group, tile + j) + element)
                          : T(0);
      BENCH_UNROLL
      for (int r = 0; r < kRows; ++r) {
        state.sum[r] += shared.weights[r][j] * value;
        state.total[r] += shared.weights[r][j];
      }
    }
  }
  // A query without keys has the results 0.
  BENCH_BOTH void write(const Lane& state, int lane) const {
    const std::int64_t element = first_element + lane;
    if (element >= plan.head_dim) return;
    BENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r >= plan.rows()) continue;
      const bool has_keys = state.total[r] > T(0);
      access.store(3, plan.row_begin(group, first_row + r) + element,
                   has_keys ? state.sum[r] / state.total[r] : T(0));
      // One lane of the blocks that share a row writes it.
      if (!plan.writes_log_sum || element != 0) continue;
      access.store_statistic(4, plan.row_number(group, first_row + r),
                             has_keys ? state.largest[r] + std::log(state.total[r]) : T(0));
    }
  }

 private:
  BENCH_BOTH bool attends(int r, std::int64_t key) const {
    const KeyRange range = keys_of_row(r);
    return key >= range.begin && key < range.end;
  }
};

}  // namespace bench::ops::cuda
