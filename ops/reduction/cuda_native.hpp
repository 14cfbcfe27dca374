// SPDX-License-Identifier: Apache-2.0
// The native kernel of reduction. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Some dimensions of a tensor, innermost last.
struct StridedDims {
  int rank = 0;
  std::int64_t sizes[kMaxDims] = {};
  std::int64_t strides[kMaxDims] = {};

  BENCH_BOTH std::int64_t count() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= sizes[i];
    return product;
  }
  BENCH_BOTH std::int64_t inner_size() const { return rank > 0 ? sizes[rank - 1] : 1; }
  BENCH_BOTH std::int64_t inner_stride() const { return rank > 0 ? strides[rank - 1] : 0; }
  BENCH_BOTH std::int64_t at(std::int64_t index) const {
    std::int64_t position = 0;
    for (int i = rank - 1; i > 0; --i) {
      const std::int64_t outer = quotient(index, sizes[i]);
      position += (index - outer * sizes[i]) * strides[i];
      index = outer;
    }
    return rank > 0 ? position + index * strides[0] : 0;
  }
};

// In the order of the operator's words.
enum class ReductionFunction : std::uint8_t { sum, mean, max, min, prod, l1, l2 };

// Tensor 0 is the source, 1 the destination, whose elements are in the order of the kept
// dimensions.
struct ReductionPlan {
  static constexpr const char* kKernel = "reduction";
  StridedDims kept, reduced;
  ReductionFunction function = ReductionFunction::sum;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // What is known about some elements. `function` is that of the plan: merge() has no plan.
  template <class T>
  struct State {
    T value;
    ReductionFunction function;
  };

  BENCH_BOTH std::int64_t rows() const { return kept.count(); }
  BENCH_BOTH std::int64_t row_size() const { return reduced.count(); }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A& access, std::int64_t row, int lane,
                                           int lanes) const {
    using T = typename A::Value;
    State<T> part{start<T>(function), function};
    const std::int64_t first = kept.at(row);
    const std::int64_t size = reduced.count();
    for_lane(
        0, size, lane, lanes, [&](std::int64_t i) { return access.load(0, first + reduced.at(i)); },
        [&](std::int64_t, T x) {
          part.value = combine(function, part.value, prepare(function, x));
        });
    return part;
  }
  template <class T>
  BENCH_BOTH static State<T> merge(const State<T>& a, const State<T>& b) {
    return {combine(a.function, a.value, b.value), a.function};
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>& whole,
                        int lane, int /*lanes*/) const {
    if (lane == 0) access.store(1, row, finish(whole.value));
  }

  // The parts of a function: the value of no elements, what an element contributes, two values as
  // one, and the result.
  template <class T>
  BENCH_BOTH static T start(ReductionFunction function) {
    if (function == ReductionFunction::max) return T(-INFINITY);
    if (function == ReductionFunction::min) return T(INFINITY);
    return function == ReductionFunction::prod ? T(1) : T(0);
  }
  template <class T>
  BENCH_BOTH static T prepare(ReductionFunction function, T x) {
    if (function == ReductionFunction::l1) return std::abs(x);
    return function == ReductionFunction::l2 ? x * x : x;
  }
  template <class T>
  BENCH_BOTH static T combine(ReductionFunction function, T a, T b) {
    if (function == ReductionFunction::max) return a < b ? b : a;
    if (function == ReductionFunction::min) return b < a ? b : a;
    return function == ReductionFunction::prod ? a * b : a + b;
  }
  template <class T>
  BENCH_BOTH T finish(T value) const {
    if (function == ReductionFunction::mean) return value / static_cast<T>(reduced.count());
    return function == ReductionFunction::l2 ? std::sqrt(value) : value;
  }
};

}  // namespace bench::ops::cuda
