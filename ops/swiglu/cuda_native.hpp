// SPDX-License-Identifier: Apache-2.0
// The native kernel of swiglu, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

BENCH_BOTH double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// On the CPU, the exponential is computed without a call, so that the compiler can vectorise the
// loop: 2^n times a polynomial (Cephes) on -ln(2)/2 to ln(2)/2, to about 2 roundings.
BENCH_BOTH float sigmoid_of(float x) {
#if defined(__CUDA_ARCH__)
  return 1 / (1 + std::exp(-x));
#else
  constexpr float kLimit = 87;  // beyond it, 2^n or its inverse leaves the normal numbers
  float y = -x;
  y = y < -kLimit ? -kLimit : y;
  y = y > kLimit ? kLimit : y;
  const float n = std::rint(y * 1.44269504f);
  const float r = (y - n * 0.693359375f) + n * 2.12194440e-4f;  // n*ln(2) in two parts
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  return 1 / (1 + p * to_float(bits));
#endif
}

// Elementwise, so a row is just a part of the elements. forward: tensors 0 and 1 are gate and
// up, 2 is the destination. gradient: 2 is its gradient, 3 and 4 are those of gate and up.
struct SwigluPlan {
  static constexpr const char* kKernel = "swiglu";
  static constexpr std::int64_t kPart = 4096;
  enum class Function : std::uint8_t { forward, gradient };
  std::int64_t elements = 0;
  Function function = Function::forward;
  Element type = Element::f32;
  Precision precision = Precision::single;

  template <class T>
  struct State {};

  BENCH_BOTH std::int64_t rows() const { return (elements + kPart - 1) / kPart; }
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A&, std::int64_t, int, int) const {
    return {};
  }
  template <class S>
  BENCH_BOTH static S merge(const S& a, const S&) {
    return a;
  }
  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    const std::int64_t first = row * kPart;
    const std::int64_t end = first + kPart < elements ? first + kPart : elements;
    if (function == Function::forward) {
      for (std::int64_t i = first + lane; i < end; i += lanes) {
        const auto gate = access.load(0, i);
        access.store(2, i, gate * sigmoid_of(gate) * access.load(1, i));
      }
      return;
    }
    for (std::int64_t i = first + lane; i < end; i += lanes) {
      using T = typename A::Value;
      const T gate = access.load(0, i);
      const T up = access.load(1, i);
      const T diff = access.load(2, i);
      const T sigmoid = sigmoid_of(gate);
      const T swish = gate * sigmoid;
      access.store(3, i, diff * up * (sigmoid + swish * (T(1) - sigmoid)));
      access.store(4, i, diff * swish);
    }
  }
};

}  // namespace bench::ops::cuda
