// SPDX-License-Identifier: Apache-2.0
// The gradients of attention on a CUDA device. The same source is compiled for the device and for
// the CPU, where tests run it. With the scores s of the forward pass:
//   weight = exp(s - log_sum)
//   slope = weight*(sum(diff_destination*value) - sum(diff_destination*destination))/sqrt(head_dim)
//   diff_query = sum over keys of slope*key
//   diff_key = sum over queries of slope*query
//   diff_value = sum over queries of weight*diff_destination
// C++17.
#pragma once

#include "ops/attention/cuda_native.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// The work of one block of `kLanes` lanes: as many elements of one query's gradient, or of the
// gradients of one key and its value. All lanes execute the steps in this order, and wait for each
// other after each of them:
//   for each tile of partners (keys of a query, queries of a key): weigh, accumulate; write
template <class T, int kLanes>
struct AttentionGradientBlock {
  // Shared by the lanes.
  struct Shared {
    T slopes[kLanes];
    T weights[kLanes];
  };
  // The sums of one lane, which computes one element.
  struct Lane {
    T by_slope = T(0);   // of diff_query or diff_key
    T by_weight = T(0);  // of diff_value
  };

  const AttentionPlan& plan;
  Access<T> access;
  std::int64_t group, index, first_element;
  bool is_query;

  BENCH_BOTH static std::int64_t tiles_of_elements(const AttentionPlan& plan) {
    return (plan.head_dim + kLanes - 1) / kLanes;
  }
  BENCH_BOTH static std::int64_t blocks(const AttentionPlan& plan) {
    return plan.groups() * (plan.rows() + plan.kv_len) * tiles_of_elements(plan);
  }
  // The queries of a group come first, then its keys.
  BENCH_BOTH static AttentionGradientBlock at(const AttentionPlan& plan, const Access<T>& access,
                                              std::int64_t block) {
    const std::int64_t elements = block % tiles_of_elements(plan);
    const std::int64_t per_group = plan.rows() + plan.kv_len;
    const std::int64_t item = block / tiles_of_elements(plan) % per_group;
    const bool is_query = item < plan.rows();
    return {plan,
            access,
            block / tiles_of_elements(plan) / per_group,
            is_query ? item : item - plan.rows(),
            elements * kLanes,
            is_query};
  }

  BENCH_BOTH KeyRange partners() const {
    return is_query ? plan.keys(group, index) : KeyRange{0, plan.rows()};
  }
  // Each lane weighs one partner of the tile.
  BENCH_BOTH void weigh(Shared& shared, std::int64_t tile, std::int64_t end, int lane) const {
    const std::int64_t partner = tile + lane;
    const std::int64_t row = is_query ? index : partner;
    const std::int64_t key = is_query ? partner : index;
    shared.slopes[lane] = shared.weights[lane] = T(0);
    if (partner >= end) return;
    const KeyRange range = plan.keys(group, row);
    if (key < range.begin || key >= range.end) return;
    const std::int64_t row_begin = plan.row_begin(group, row);
    const std::int64_t key_begin = plan.key_begin(group, key);
    T score = 0, by_value = 0, by_result = 0;
    for (std::int64_t d = 0; d < plan.head_dim; ++d) {
      const T diff = access.load(5, row_begin + d);
      score += access.load(0, row_begin + d) * access.load(1, key_begin + d);
      by_value += diff * access.load(2, key_begin + d);
      by_result += diff * access.load(3, row_begin + d);
    }
    const T scale = T(1) / std::sqrt(static_cast<T>(plan.head_dim));
    const T weight =
        std::exp(score * scale - access.load_statistic(4, plan.row_number(group, row)));
    shared.weights[lane] = weight;
    shared.slopes[lane] = weight * (by_value - by_result) * scale;
  }
  BENCH_BOTH void accumulate(const Shared& shared, Lane& state, std::int64_t tile, std::int64_t end,
                             int lane) const {
    const std::int64_t element = first_element + lane;
    if (element >= plan.head_dim) return;
    const int count = static_cast<int>(end - tile < kLanes ? end - tile : kLanes);
    for (int j = 0; j < count; ++j) {
      if (is_query) {
        state.by_slope +=
            shared.slopes[j] * access.load(1, plan.key_begin(group, tile + j) + element);
      } else {
        const std::int64_t at = plan.row_begin(group, tile + j) + element;
        state.by_slope += shared.slopes[j] * access.load(0, at);
        state.by_weight += shared.weights[j] * access.load(5, at);
      }
    }
  }
  BENCH_BOTH void write(const Lane& state, int lane) const {
    const std::int64_t element = first_element + lane;
    if (element >= plan.head_dim) return;
    if (is_query) {
      access.store(6, plan.row_begin(group, index) + element, state.by_slope);
    } else {
      access.store(7, plan.key_begin(group, index) + element, state.by_slope);
      access.store(8, plan.key_begin(group, index) + element, state.by_weight);
    }
  }
};

}  // namespace bench::ops::cuda
