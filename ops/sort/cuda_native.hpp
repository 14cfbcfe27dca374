// SPDX-License-Identifier: Apache-2.0
// The native kernel of sort, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// positions: tensor 0 is the source, 1 has the position of each line's first element in order.
// values: tensor 0 is the source, 1 has the first `kept` elements of each line in order, 2 their
// positions. gradient: tensor 0 has the positions, 1 the gradients of the results, 2 that of the
// source. A row of the kernel is a line. The device counts for each element how many precede it.
struct SortPlan {
  static constexpr const char* kKernel = "sort";
  enum class Task : std::uint8_t { positions, values, gradient };
  Task task = Task::values;
  bool ascending = true;
  std::int64_t lines = 1, size = 1, kept = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // The first element in order of some elements; position -1 if there are none.
  template <class T>
  struct State {
    T value;
    std::int64_t position;
    std::int32_t is_ascending;  // merge() has no plan
  };

  template <class T>
  BENCH_BOTH static bool precedes(const State<T>& a, const State<T>& b) {
    if (a.position < 0 || b.position < 0) return b.position < 0;
    if (a.value != b.value) return a.is_ascending != 0 ? a.value < b.value : a.value > b.value;
    return a.position < b.position;
  }

  BENCH_BOTH std::int64_t rows() const { return lines; }
  BENCH_BOTH std::int64_t row_size() const { return size; }
  template <class A>
  BENCH_BOTH State<typename A::Value> element(const A& access, std::int64_t row,
                                              std::int64_t i) const {
    return {access.load(0, row * size + i), i, ascending ? 1 : 0};
  }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    State<T> first = {T(0), -1, ascending ? 1 : 0};
    if (task != Task::positions) return first;
    for (std::int64_t i = lane; i < size; i += lanes) {
      const State<T> next = element(access, row, i);
      if (precedes(next, first)) first = next;
    }
    return first;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return precedes(a, b) ? a : b;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    if (task == Task::positions) {
      if (lane == 0) store_position(access, 1, row, whole.position);
    } else if (task == Task::values) {
      write_values(access, row, lane, lanes);
    } else {
      write_gradient(access, row, lane, lanes);
    }
  }

 private:
  template <class A>
  BENCH_BOTH static void store_position(const A& access, int tensor, std::int64_t at,
                                        std::int64_t position) {
    write_as<std::int32_t>(access.tensors.at[tensor], at, position);
  }
  template <class A>
  BENCH_BOTH void write_values(const A& access, std::int64_t row, int lane, int lanes) const {
    using T = typename A::Value;
    for (std::int64_t i = lane; i < size; i += lanes) {
      const State<T> own = element(access, row, i);
      std::int64_t rank = 0;
      for (std::int64_t j = 0; j < size && rank < kept; ++j) {
        rank += precedes(element(access, row, j), own) ? 1 : 0;
      }
      if (rank >= kept) continue;
      access.store(1, row * kept + rank, own.value);
      store_position(access, 2, row * kept + rank, i);
    }
  }
  template <class A>
  BENCH_BOTH void write_gradient(const A& access, std::int64_t row, int lane, int lanes) const {
    using T = typename A::Value;
    for (std::int64_t i = lane; i < size; i += lanes) {
      T sum = T(0);
      for (std::int64_t j = row * kept; j < (row + 1) * kept; ++j) {
        if (access.load_index(0, j) == i) sum += access.load(1, j);
      }
      access.store(2, row * size + i, sum);
    }
  }
};

}  // namespace bench::ops::cuda
