// SPDX-License-Identifier: Apache-2.0
// The native kernel of rope, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// A row consists of kPositions neighbouring positions of one head. Tensor 0 is the source, 1 the
// cosine, 2 the sine, 3 the destination. A rotation back has the `sign` -1.
struct RopePlan : StatelessRows {
  static constexpr const char* kKernel = "rope";
  static constexpr std::int64_t kPositions = 16;
  std::int64_t heads = 1, seq = 1, half = 1;  // heads of all sequences
  Element type = Element::f32;
  Precision precision = Precision::single;
  float sign = 1;

  BENCH_BOTH std::int64_t rows_per_head() const { return (seq + kPositions - 1) / kPositions; }
  BENCH_BOTH std::int64_t rows() const { return heads * rows_per_head(); }
  BENCH_BOTH std::int64_t row_size() const { return kPositions * half; }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    // As many lanes as fit share a position. A single lane takes one pair after the other, which
    // the compiler must see.
    const std::int64_t columns = lanes == 1 || lanes < half ? lanes : half;
    const std::int64_t lines = lanes / columns;
    if (lane >= lines * columns) return;
    const std::int64_t head = row / rows_per_head();
    const std::int64_t first = row % rows_per_head() * kPositions;
    const std::int64_t last = first + kPositions < seq ? first + kPositions : seq;
    for (std::int64_t position = first + lane / columns; position < last; position += lines) {
      const std::int64_t begin = (head * seq + position) * 2 * half;
      for (std::int64_t j = lane % columns; j < half; j += columns) {
        const T x = access.load(0, begin + j);
        const T y = access.load(0, begin + half + j);
        const T cosine = access.load(1, position * half + j);
        const T sine = access.load(2, position * half + j) * T(sign);
        access.store(3, begin + j, x * cosine - y * sine);
        access.store(3, begin + half + j, y * cosine + x * sine);
      }
    }
  }
};

}  // namespace bench::ops::cuda
