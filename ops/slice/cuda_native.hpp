// SPDX-License-Identifier: Apache-2.0
// The native kernel of slice, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// Copies between tensor 0 and tensor 1, one of which is a range of each line of the other. A row of
// the kernel is just a part of the destination's elements.
struct SlicePlan : RowsOfElements {
  static constexpr const char* kKernel = "slice";
  // gradient: the destination has the whole lines, and is 0 outside of the range.
  enum class Task : std::uint8_t { range, gradient };
  Task task = Task::range;
  std::int64_t line = 1, begin = 0, run = 1;  // elements: of a line, before the range, of the range
  int bytes = 4;                              // bytes of an element
  Element type = Element::f32;
  Precision precision = Precision::single;

  // Returns where an element of the destination is in the source; below 0 if it is outside of the
  // range.
  BENCH_BOTH std::int64_t source_of(std::int64_t position) const {
    const std::int64_t size = task == Task::range ? run : line;
    const std::int64_t number = quotient(position, size);
    const std::int64_t place = position - number * size;
    if (task == Task::range) return number * line + begin + place;
    const bool is_inside = place >= begin && place - begin < run;
    return is_inside ? number * run + place - begin : -1;
  }

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    for_lane(
        row * kPart, end_of(row), lane, lanes,
        [&](std::int64_t i) {
          const std::int64_t from = source_of(i);
          return from < 0 ? T(0) : access.load(0, from);
        },
        [&](std::int64_t i, T value) { access.store(1, i, value); });
  }
};

// Implements HostKernel::run_part of slice and pad.
void run_slice_part(const NativePlan& plan, const Addresses& tensors, int thread, int threads);

}  // namespace bench::ops::cuda
