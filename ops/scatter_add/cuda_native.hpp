// SPDX-License-Identifier: Apache-2.0
// The native kernel of scatter_add, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// forward: tensor 0 is the source, 1 the indices, 2 the updates, 3 the destination. gradient:
// tensor 0 is that of the destination, 1 the indices, 2 the gradient of the updates. A row of the
// kernel is a row of the table, or of the updates. The first and the last index that names it bound
// the search, and additions have the order of the indices.
struct ScatterAddPlan {
  static constexpr const char* kKernel = "scatter_add";
  std::int64_t table_rows = 1, dim = 1, indices = 1;
  bool gradient = false;
  Element type = Element::f32;
  Precision precision = Precision::single;

  template <class T>
  struct State {
    std::int64_t first, last;
  };

  BENCH_BOTH std::int64_t rows() const { return gradient ? indices : table_rows; }
  BENCH_BOTH std::int64_t row_size() const { return gradient || dim > indices ? dim : indices; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    State<typename A::Value> part = {indices, -1};
    if (gradient) return part;
    for (std::int64_t i = lane; i < indices; i += lanes) {
      if (access.load_index(1, i) != row) continue;
      if (part.last < 0) part.first = i;
      part.last = i;
    }
    return part;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return {a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    if (gradient) {
      const std::int64_t from = access.load_index(1, row);
      for (std::int64_t k = lane; k < dim; k += lanes) {
        access.store(2, row * dim + k, access.load(0, from * dim + k));
      }
      return;
    }
    for (std::int64_t k = lane; k < dim; k += lanes) {
      T sum = access.load(0, row * dim + k);
      for (std::int64_t i = whole.first; i <= whole.last; ++i) {
        if (access.load_index(1, i) == row) sum += access.load(2, i * dim + k);
      }
      access.store(3, row * dim + k, sum);
    }
  }
};

}  // namespace bench::ops::cuda
