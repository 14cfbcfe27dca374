// SPDX-License-Identifier: Apache-2.0
#include "harness/run/canary_work.hpp"

#include <ctime>

namespace bench {
namespace {

constexpr double kTriadFactor = 3;

}  // namespace

double multiply_add_chains(std::int64_t steps) {
  // Unknown to the compiler, and such that the chains approach 1: no overflow, nothing denormal.
  const volatile double shrink = 0.999999;
  const volatile double grow = 0.000001;
  const double factor = shrink;
  const double addend = grow;
  // Variables of their own: GCC keeps an array in memory.
  double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  for (std::int64_t step = 0; step < steps; ++step) {
    a = a * factor + addend;
    b = b * factor + addend;
    c = c * factor + addend;
    d = d * factor + addend;
    e = e * factor + addend;
    f = f * factor + addend;
    g = g * factor + addend;
    h = h * factor + addend;
  }
  return a + b + c + d + e + f + g + h;
}

void triad(double* __restrict to, const double* __restrict left, const double* __restrict right,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = left[i] + kTriadFactor * right[i];
}

std::int64_t read_clock(std::int64_t reads) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < reads; ++i) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    sum += now.tv_nsec;
  }
  return sum;
}

}  // namespace bench
