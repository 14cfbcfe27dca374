// SPDX-License-Identifier: Apache-2.0
// Functions of row kernels in a form that the compiler vectorises on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace bench::ops::cuda {

// Integers in the order of the numbers, for maxima: the maximum of floating-point numbers is only
// vectorised if the compiler may assume that none is NaN.
BENCH_BOTH std::int32_t to_ordered(float x) {
  std::int32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits ^ (bits >> 31 & 0x7fffffff);
}
BENCH_BOTH std::int64_t to_ordered(double x) {
  std::int64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits ^ (bits >> 63 & 0x7fffffffffffffff);
}
BENCH_BOTH float from_ordered(std::int32_t ordered) {
  const std::int32_t bits = ordered ^ (ordered >> 31 & 0x7fffffff);
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
BENCH_BOTH double from_ordered(std::int64_t ordered) {
  const std::int64_t bits = ordered ^ (ordered >> 63 & 0x7fffffffffffffff);
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

BENCH_BOTH double exp_of(double x) { return std::exp(x); }

// On the CPU: for x of at most 88, within 2 units in the last place (polynomial of Cephes). Results
// below 2^-126 become 2^-126 instead of denormals.
BENCH_BOTH float exp_of(float x) {
#if defined(__CUDA_ARCH__)
  return std::exp(x);
#else
  constexpr float kLowest = -87.33654F;  // the logarithm of 2^-126
  constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kTerms[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                              4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};
  const float bounded = x < kLowest ? kLowest : x;
  const float n = std::rint(bounded * kLog2E);
  const auto power = static_cast<std::int32_t>(n);
  // The options of vectorised sources would let the compiler add the two parts of the logarithm
  // first, but not within explicit multiply-adds.
  const float rest = __builtin_fmaf(n, -kLn2Low, __builtin_fmaf(n, -kLn2High, bounded));
  float sum = kTerms[0];
  for (int i = 1; i < 6; ++i) sum = sum * rest + kTerms[i];
  const float mantissa = sum * rest * rest + rest + 1.0F;
  return mantissa * to_float(static_cast<std::uint32_t>(power + 127) << 23);
#endif
}

}  // namespace bench::ops::cuda
