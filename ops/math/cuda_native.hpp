// SPDX-License-Identifier: Apache-2.0
// The native kernel of math, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"
#include "ops/math/cuda_native_functions.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// The tensors are the operands, in a gradient that of the destination, then the results.
struct MathPlan : RowsOfElements {
  static constexpr const char* kKernel = "math";
  MathCode code = MathCode::neg;
  int operands = 1, results = 1;
  bool gradient = false;
  double alpha = 0;
  Element type = Element::f32;
  Precision precision = Precision::single;

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    for (std::int64_t i = row * kPart + lane; i < end_of(row); i += lanes) {
      const MathElement<T> element = {access.load(0, i), operands > 1 ? access.load(1, i) : T(0),
                                      operands > 2 ? access.load(2, i) : T(0),
                                      static_cast<T>(alpha)};
      if (!gradient) {
        access.store(operands, i, math_value(code, element));
        continue;
      }
      const MathGradient<T> slopes = math_gradient(code, element, access.load(operands, i));
      access.store(operands + 1, i, slopes.a);
      if (results > 1) access.store(operands + 2, i, slopes.b);
      if (results > 2) access.store(operands + 3, i, slopes.c);
    }
  }
};

}  // namespace bench::ops::cuda
