// SPDX-License-Identifier: Apache-2.0
// The native kernel of cumsum, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Sums along lines of `size` elements that are `inner` apart. A lane sums a line; neighbouring
// lanes have neighbouring lines. A row of the kernel is some lines. Tensor 0 is summed to tensor 1.
struct CumsumPlan : StatelessRows {
  static constexpr const char* kKernel = "cumsum";
  static constexpr std::int64_t kLines = 32;
  std::int64_t outer = 1, size = 1, inner = 1;
  bool gradient = false;  // from the end
  Element type = Element::f32;
  Precision precision = Precision::single;

  BENCH_BOTH std::int64_t lines() const { return outer * inner; }
  BENCH_BOTH std::int64_t rows() const { return (lines() + kLines - 1) / kLines; }
  BENCH_BOTH std::int64_t row_size() const { return kLines; }

  template <class A>
  BENCH_BOTH void sum_line(const A& access, std::int64_t line) const {
    using T = typename A::Value;
    const std::int64_t step = gradient ? -inner : inner;
    std::int64_t at = line / inner * size * inner + line % inner;
    if (gradient) at += (size - 1) * inner;
    T sum = T(0);
    for (std::int64_t i = 0; i < size; ++i, at += step) {
      sum += access.load(0, at);
      access.store(1, at, sum);
    }
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    const std::int64_t end = (row + 1) * kLines < lines() ? (row + 1) * kLines : lines();
    for (std::int64_t line = row * kLines + lane; line < end; line += lanes) sum_line(access, line);
  }
};

}  // namespace bench::ops::cuda
