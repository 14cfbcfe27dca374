// SPDX-License-Identifier: Apache-2.0
// Vectors and small products for the kernels of attention on CPUs.
#pragma once

#include "base/units.hpp"
#include "ops/cuda/kernels/element_codes.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace bench::ops::cuda {

// --- Vectors of `kBytes`.

template <class T, int kBytes>
struct VectorOf {
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  using Integer = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef T Vector __attribute__((vector_size(kBytes)));
  typedef Integer Integers __attribute__((vector_size(kBytes)));
  // At any address of an element.
  typedef T Loose __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  typedef std::uint16_t Halves __attribute__((vector_size(kBytes / sizeof(T) * 2)));
  typedef std::uint32_t Words __attribute__((vector_size(kBytes / sizeof(T) * 4)));
  typedef float Floats __attribute__((vector_size(kBytes / sizeof(T) * 4)));
};

// The registers of an instruction set: kRows*2 sums, two vectors and a factor fit into them.
struct Avx512Registers {
  static constexpr int kBytes = 64, kRows = 12;
};
struct Avx2Registers {
  static constexpr int kBytes = 32, kRows = 6;
};
struct PortableRegisters {
  static constexpr int kBytes = 16, kRows = 6;
};

// Keys that are packed together.
inline constexpr std::int64_t kKeyBlock = 128;

#define BENCH_INLINE [[gnu::always_inline]] inline

template <Element kType, class Registers>
struct AttentionVectors {
  using T = std::conditional_t<kType == Element::f64, double, float>;
  using V = VectorOf<T, Registers::kBytes>;
  using Vector = typename V::Vector;
  using Integers = typename V::Integers;
  using Loose = typename V::Loose;
  static constexpr int kLanes = V::kLanes;
  static constexpr int kPanel = 2 * kLanes;
  static constexpr int kRows = Registers::kRows;

  // --- Elements.

  BENCH_INLINE static void load(const void* array, std::int64_t at, Vector& to) {
    if constexpr (kType == Element::bf16 || kType == Element::f16) {
      using Words = typename V::Words;
      typename V::Halves codes;
      __builtin_memcpy(&codes, static_cast<const std::uint16_t*>(array) + at, sizeof(codes));
      const Words words = __builtin_convertvector(codes, Words);
      if constexpr (kType == Element::bf16) {
        to = __builtin_bit_cast(Vector, words << 16);
      } else {
        // A normal number of f16 has the exponent of a small float, and so does a subnormal one.
        const Words magnitude = (words & 0x7fffu) << 13;
        using Floats = typename V::Floats;
        const Floats scaled = __builtin_bit_cast(Floats, magnitude) * 0x1p112F;
        const Words finite = __builtin_bit_cast(Words, scaled);
        const Words is_finite = __builtin_bit_cast(Words, (words & 0x7c00u) != 0x7c00u);
        const Words value = ((words & 0x8000u) << 16) | (finite & is_finite) |
                            ((magnitude | 0x7f800000u) & ~is_finite);
        to = __builtin_bit_cast(Vector, value);
      }
    } else {
      to = *reinterpret_cast<const Loose*>(static_cast<const T*>(array) + at);
    }
  }
  // Loads `count` elements; the others are 0.
  BENCH_INLINE static void load_some(const void* array, std::int64_t at, std::int64_t count,
                                     Vector& to) {
    if (count >= kLanes) return load(array, at, to);
    T values[kLanes] = {};
    for (std::int64_t i = 0; i < count; ++i) values[i] = load_as<T>(kType, array, at + i);
    to = *reinterpret_cast<const Loose*>(values);
  }
  BENCH_INLINE static Loose& at(T* address) { return *reinterpret_cast<Loose*>(address); }
  BENCH_INLINE static const Loose& at(const T* address) {
    return *reinterpret_cast<const Loose*>(address);
  }

  // --- Powers of 2.

  static constexpr int kDegree = sizeof(T) == 8 ? 13 : 7;
  struct Coefficients {
    T at[kDegree + 1];
  };
  // The series of 2^x: the rest is less than a rounding for |x| <= 1/2.
  static constexpr Coefficients make_coefficients() {
    Coefficients result{};
    double term = 1;
    for (int i = 0; i <= kDegree; ++i) {
      result.at[i] = static_cast<T>(term);
      term *= 0.6931471805599453 / (i + 1);
    }
    return result;
  }
  static constexpr int kMantissa = sizeof(T) == 8 ? 52 : 23;
  static constexpr int kBias = sizeof(T) == 8 ? 1023 : 127;
  // `whole`: the nearest integers of numbers within the exponents of T.
  BENCH_INLINE static void raise_within(const Integers& whole, Vector& x) {
    constexpr Coefficients kSeries = make_coefficients();
    const Vector rest = x - __builtin_convertvector(whole, Vector);
    Vector sum = Vector{} + kSeries.at[kDegree];
#pragma GCC unroll 16
    for (int i = kDegree - 1; i >= 0; --i) sum = sum * rest + kSeries.at[i];
    const Integers power = (whole + kBias) << kMantissa;
    x = sum * __builtin_bit_cast(Vector, power);
  }
  // Raises 2 to numbers up to 0.
  BENCH_INLINE static void raise_2_to(Vector& x) {
    const Vector lowest = Vector{} + T(1 - kBias);
    const Vector exponent = x;
    x = x > lowest ? x : lowest;
    raise_within(__builtin_convertvector(x - T(0.5), Integers), x);
    x = exponent > lowest ? x : Vector{};
  }
  // Raises 2 to any numbers; the result is at most half of the largest number of T.
  BENCH_INLINE static void raise_2_to_any(Vector& x) {
    const Vector lowest = Vector{} + T(1 - kBias);
    const Vector highest = Vector{} + T(kBias - 1);
    const Vector exponent = x;
    x = x > lowest ? x : lowest;
    x = x < highest ? x : highest;
    const Vector rounded = x < Vector{} ? x - T(0.5) : x + T(0.5);
    raise_within(__builtin_convertvector(rounded, Integers), x);
    x = exponent > lowest ? x : Vector{};
  }
  BENCH_INLINE static T power_of_2(T x) {
    Vector vector = Vector{} + x;
    raise_2_to(vector);
    return vector[0];
  }
  template <class Function>
  BENCH_INLINE static T reduce(const Vector& parts, Function merge) {
    Vector x = parts;
#pragma GCC unroll 8
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      Integers other = {};
      for (int i = 0; i < kLanes; ++i) other[i] = i ^ distance;
      const Vector moved = __builtin_shuffle(x, other);
      merge(x, moved);
    }
    return x[0];
  }
  BENCH_INLINE static T sum_of(const Vector& x) {
    return reduce(x, [](Vector& a, const Vector& b) { a += b; });
  }
  BENCH_INLINE static T largest_of(const Vector& x) {
    return reduce(x, [](Vector& a, const Vector& b) { a = a > b ? a : b; });
  }

  // --- Products.

  // Adds the product of kRows rows and two vectors of columns to `sums`. Element (r, t) of the rows
  // is at rows[r*kRowStep + t*kStep]; step t of the columns begins at columns[t*kPanel].
  template <int kRowStep, int kStep>
  BENCH_INLINE static void multiply(const T* rows, const T* columns, std::int64_t steps,
                                    Vector (&sums)[kRows][2]) {
    for (std::int64_t t = 0; t < steps; ++t) {
      const Vector left = at(columns + t * kPanel);
      const Vector right = at(columns + t * kPanel + kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vector x = Vector{} + rows[r * kRowStep + t * kStep];
        sums[r][0] += x * left;
        sums[r][1] += x * right;
      }
    }
  }

  // Replaces rows by columns.
  BENCH_INLINE static void transpose(Vector (&rows)[kLanes]) {
    Integers low = {}, high = {};
    for (int i = 0; i < kLanes; ++i) {
      low[i] = i / 2 + i % 2 * kLanes;
      high[i] = low[i] + kLanes / 2;
    }
    // Each step pairs the rows of the two halves; after log2(kLanes) steps, all are transposed.
#pragma GCC unroll 8
    for (int step = 1; step < kLanes; step *= 2) {
      Vector next[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes / 2; ++i) {
        next[2 * i] = __builtin_shuffle(rows[i], rows[i + kLanes / 2], low);
        next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + kLanes / 2], high);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
    }
  }

  // Packs `count` rows of a plain matrix with `size` columns, from element `begin` on, for the
  // right side of multiply(): panels of kPanel rows, column by column. Missing rows of the last
  // panel are 0.
  BENCH_INLINE static void pack_transposed(const void* array, std::int64_t begin,
                                           std::int64_t count, std::int64_t size, T* to) {
    for (std::int64_t n = 0; n < count; n += kLanes) {
      T* column = to + n / kPanel * kPanel * size + n % kPanel;
      for (std::int64_t d = 0; d < size; d += kLanes) {
        Vector rows[kLanes];
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) {
          rows[i] = Vector{};
          if (n + i < count) load_some(array, begin + (n + i) * size + d, size - d, rows[i]);
        }
        transpose(rows);
        const std::int64_t present = std::min<std::int64_t>(kLanes, size - d);
        for (std::int64_t i = 0; i < present; ++i) at(column + (d + i) * kPanel) = rows[i];
      }
    }
    if (round_up(count, kLanes) % kPanel == 0) return;
    T* column = to + count / kPanel * kPanel * size + kLanes;
    for (std::int64_t d = 0; d < size; ++d) at(column + d * kPanel) = Vector{};
  }
  // The same for panels of kPanel columns, row by row; a panel has room for kKeyBlock rows. Columns
  // behind the last one are 0.
  BENCH_INLINE static void pack_panels(const void* array, std::int64_t begin, std::int64_t count,
                                       std::int64_t size, T* to) {
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t d = 0; d < round_up(size, kPanel); d += kLanes) {
        Vector values = {};
        if (d < size) load_some(array, begin + n * size + d, size - d, values);
        at(to + (d / kPanel * kKeyBlock + n) * kPanel + d % kPanel) = values;
      }
    }
  }
  // Packs for the left side of multiply(): tiles of kRows rows, column by column, times `factor`.
  // Missing rows of the last tile are 0.
  BENCH_INLINE static void pack_rows(const void* array, std::int64_t begin, std::int64_t count,
                                     std::int64_t size, T factor, T* to) {
    for (std::int64_t r = 0; r < round_up(count, kRows); ++r) {
      T* row = to + r / kRows * kRows * size + r % kRows;
      for (std::int64_t d = 0; d < size; ++d) {
        row[d * kRows] = r < count ? factor * load_as<T>(kType, array, begin + r * size + d) : T(0);
      }
    }
  }
};

#undef BENCH_INLINE

}  // namespace bench::ops::cuda
