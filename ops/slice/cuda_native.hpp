// SPDX-License-Identifier: Apache-2.0
// The native kernel of slice, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Copies a range of each line of tensor 0 to tensor 1. A row of the kernel is just a part of the
// destination's elements.
struct SlicePlan : RowsOfElements {
  static constexpr const char* kKernel = "slice";
  std::int64_t line = 1, begin = 0, run = 1;  // elements: of a line, before the range, of the range
  int bytes = 4;                              // bytes of an element
  Element type = Element::f32;
  Precision precision = Precision::single;

  // Returns where an element of the destination is in the source.
  BENCH_BOTH std::int64_t source_of(std::int64_t position) const {
    const std::int64_t number = quotient(position, run);
    return number * line + begin + (position - number * run);
  }

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    for_lane(
        row * kPart, end_of(row), lane, lanes,
        [&](std::int64_t i) { return access.load(0, source_of(i)); },
        [&](std::int64_t i, T value) { access.store(1, i, value); });
  }
};

}  // namespace bench::ops::cuda
