// SPDX-License-Identifier: Apache-2.0
// The native kernels of embedding and gather: rows of a table by their indices, and the sum of
// their gradients by row. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// lookup: tensor 0 is the table, 1 the indices, 2 the rows that they name. gradient: tensor 0 is
// the gradient of these rows, 1 the indices, 2 the gradient of the table.
enum class EmbeddingFunction : std::uint8_t { lookup, gradient };

// The table has the sizes outer x table_rows x inner; a gradient has outer = 1. A lookup copies
// units of `unit` bytes, and `inner` counts these; a gradient adds elements of `type`.
struct EmbeddingPlan {
  static constexpr const char* kKernel = "embedding";
  static constexpr int kRows = 8;  // rows of the table in one row of the gradient's kernel
  EmbeddingFunction function = EmbeddingFunction::lookup;
  std::int64_t outer = 1, table_rows = 1, inner = 1, indices = 1;
  int unit = 4;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // Units that a lookup copies.
  BENCH_BOTH std::int64_t units() const { return outer * indices * inner; }
  // Returns the unit of the table that a lookup copies to position `i`.
  BENCH_BOTH std::int64_t source_of(const void* index, std::int64_t i) const {
    const std::int64_t copy = quotient(i, inner);
    const std::int64_t slice = outer == 1 ? 0 : copy / indices;
    const std::int64_t row = read_as<std::int32_t>(index, copy - slice * indices);
    return (slice * table_rows + row) * inner + (i - copy * inner);
  }

  // A gradient as a row kernel. Each lane looks through some indices, and remembers for each of
  // kRows rows of the table the first and the last place that names it.
  template <class T>
  struct State {
    std::int64_t first[kRows], last[kRows];
  };

  BENCH_BOTH std::int64_t rows() const { return (table_rows + kRows - 1) / kRows; }
  BENCH_BOTH std::int64_t row_size() const { return indices > inner ? indices : inner; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    State<typename A::Value> part;
    BENCH_UNROLL
    for (int k = 0; k < kRows; ++k) part.first[k] = indices, part.last[k] = -1;
    for (std::int64_t i = lane; i < indices; i += lanes) {
      const std::int64_t place = access.load_index(1, i) - row * kRows;
      if (place < 0 || place >= kRows) continue;
      // Only constant indexes let the device keep the state in registers.
      BENCH_UNROLL
      for (int k = 0; k < kRows; ++k) {
        if (k != place) continue;
        if (part.last[k] < 0) part.first[k] = i;
        part.last[k] = i;
      }
    }
    return part;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    State<T> both = a;
    BENCH_UNROLL
    for (int k = 0; k < kRows; ++k) {
      if (b.first[k] < a.first[k]) both.first[k] = b.first[k];
      if (b.last[k] > a.last[k]) both.last[k] = b.last[k];
    }
    return both;
  }
  // Adds in the order of the indices.
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int lanes) const {
    using T = typename A::Value;
    BENCH_UNROLL
    for (int k = 0; k < kRows; ++k) {
      const std::int64_t table_row = row * kRows + k;
      if (table_row >= table_rows) continue;
      for (std::int64_t column = lane; column < inner; column += lanes) {
        T sum = T(0);
        for (std::int64_t i = whole.first[k]; i <= whole.last[k]; ++i) {
          if (access.load_index(1, i) == table_row) sum += access.load(0, i * inner + column);
        }
        access.store(2, table_row * inner + column, sum);
      }
    }
  }
};

// Makes `inner`, a number of elements, one of the widest units that divide a row.
void set_widest_unit(EmbeddingPlan& plan, std::int64_t element_bytes);

// Implement HostKernel of the operators that look up rows.
void run_embedding(const NativePlan& plan, const Addresses& tensors);
void run_embedding_part(const NativePlan& plan, const Addresses& tensors, int thread, int threads);

}  // namespace bench::ops::cuda
