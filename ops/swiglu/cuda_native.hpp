// SPDX-License-Identifier: Apache-2.0
// The native kernel of swiglu, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"
#include "ops/cuda/kernels/vector_math.hpp"

#include <cstdint>

namespace bench::ops::cuda {

BENCH_BOTH double sigmoid_of(double x) { return 1 / (1 + exp_of(-x)); }
BENCH_BOTH float sigmoid_of(float x) {
  constexpr float kLimit = 87;  // up to which exp_of() is exact
  const float y = -x > kLimit ? kLimit : -x;
  return 1 / (1 + exp_of(y));
}

// Elementwise, so a row is just a part of the elements. forward: tensors 0 and 1 are gate and
// up, 2 is the destination. gradient: 2 is its gradient, 3 and 4 are those of gate and up.
struct SwigluPlan : RowsOfElements {
  static constexpr const char* kKernel = "swiglu";
  enum class Function : std::uint8_t { forward, gradient };
  Function function = Function::forward;
  Element type = Element::f32;
  Precision precision = Precision::single;

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const std::int64_t first = row * kPart;
    const std::int64_t end = end_of(row);
    if (function == Function::forward) {
      for_lane(
          first, end, lane, lanes, [&](std::int64_t i) { return access.load(0, i); },
          [&](std::int64_t i) { return access.load(1, i); },
          [&](std::int64_t i, T gate, T up) { access.store(2, i, gate * sigmoid_of(gate) * up); });
      return;
    }
    const auto load = [&](std::int64_t i) {
      return Inputs<T>{access.load(0, i), access.load(1, i), access.load(2, i)};
    };
    for_lane(first, end, lane, lanes, load, [&](std::int64_t i, const Inputs<T>& in) {
      const T sigmoid = sigmoid_of(in.gate);
      const T swish = in.gate * sigmoid;
      access.store(3, i, in.diff * in.up * (sigmoid + swish * (T(1) - sigmoid)));
      access.store(4, i, in.diff * swish);
    });
  }

 private:
  template <class T>
  struct Inputs {
    T gate, up, diff;
  };
};

}  // namespace bench::ops::cuda
