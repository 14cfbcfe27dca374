// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/canary_work.hpp"

namespace bench {
namespace {

constexpr double kTriadFactor = 3;

// Four floats: the widest vector that every processor of this architecture supports.
using Vector = float __attribute__((vector_size(16)));

}  // namespace

double multiply_add_chains(std::int64_t steps) {
  // `volatile` hides these values from the compiler. With them the chains approach 1, without
  // overflow or denormal numbers.
  const volatile double shrink = 0.999999;
  const volatile double grow = 0.000001;
  const double factor = shrink;
  const double addend = grow;
  // Separate variables, because GCC keeps an array in memory.
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

void triad(double* __restrict out, const double* __restrict left, const double* __restrict right,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = left[i] + kTriadFactor * right[i];
}

float mixed_operations(const float* from, std::int64_t vectors, int passes) {
  const volatile float constant = 0.999F;
  const Vector factor = Vector{} + constant;
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  std::int64_t i = vectors, j = passes, k = 1, l = 2;
  const auto* values = reinterpret_cast<const Vector*>(from);
  // Makes the compiler assume that the value is read, so that it cannot combine the integer
  // operations.
  const auto keep = [](std::int64_t& value) { asm volatile("" : "+r"(value)); };
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t at = 0; at < vectors; at += 8) {
      a += values[at] * factor;
      keep(i += 3);
      b += values[at + 1] * factor;
      keep(j ^= 5);
      c += values[at + 2] * factor;
      keep(k += 7);
      d += values[at + 3] * factor;
      keep(l ^= 9);
      e += values[at + 4] * factor;
      keep(i += 3);
      f += values[at + 5] * factor;
      keep(j ^= 5);
      g += values[at + 6] * factor;
      keep(k += 7);
      h += values[at + 7] * factor;
      keep(l ^= 9);
    }
  }
  const Vector sum = a + b + c + d + e + f + g + h;
  return sum[0] + sum[1] + sum[2] + sum[3] + static_cast<float>(i + j + k + l);
}

double dependent_multiplications(std::int64_t steps) {
  const volatile double nearly_one = 0.999999;
  const double factor = nearly_one;
  double product = 1;
  for (std::int64_t step = 0; step < steps; ++step) product *= factor;
  return product;
}

}  // namespace bench
