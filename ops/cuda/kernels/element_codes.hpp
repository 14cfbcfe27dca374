// SPDX-License-Identifier: Apache-2.0
// Reads and writes array elements for the native kernels. The same source is compiled for the
// device and for the CPU, where tests compare every code with base/data_type.hpp. C++17.
#pragma once

#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define BENCH_BOTH __host__ __device__ inline
#define BENCH_BOTH_INLINED __host__ __device__ __forceinline__
#else
#define BENCH_BOTH inline
// Loops over lambdas must be inlined: only then does the compiler see that a CPU has one lane.
#define BENCH_BOTH_INLINED [[gnu::always_inline]] inline
#endif
// Loops over a few registers must be unrolled, because their counters would reduce the rate. The
// host's compiler does not know this pragma.
#if defined(__CUDA_ARCH__)
#define BENCH_UNROLL _Pragma("unroll")
// The loads of several steps begin before the first is used.
#define BENCH_UNROLL_LOADS _Pragma("unroll 4")
#else
#define BENCH_UNROLL
#define BENCH_UNROLL_LOADS
#endif

namespace bench::ops::cuda {

// --- Small floats: a sign bit, then kExponent exponent bits and kMantissa mantissa bits, as in
// IEEE 754. In a format without infinity (e4m3), only a code whose bits below the sign are all set
// is NaN.

enum class Infinity { absent, present };

BENCH_BOTH std::uint32_t to_bits(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

BENCH_BOTH float to_float(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// Drops the last `count` bits of `value`, rounding to nearest even.
BENCH_BOTH std::uint32_t shift_and_round(std::uint32_t value, int count) {
  if (count <= 0) return value;
  if (count > 25) return 0;  // values have 24 bits at most, so they round to 0
  const std::uint32_t code = value >> count;
  const std::uint32_t dropped = value & ((1u << count) - 1);
  const std::uint32_t half = 1u << (count - 1);
  return dropped > half || (dropped == half && (code & 1u) != 0) ? code + 1 : code;
}

template <int kExponent, int kMantissa, Infinity kInfinity>
BENCH_BOTH std::uint32_t encode_small(float value) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr int kDropped = 23 - kMantissa;
  constexpr std::uint32_t kNan = (1u << (kExponent + kMantissa)) - 1;
  constexpr std::uint32_t kTop =
      kInfinity == Infinity::present ? ((1u << kExponent) - 1) << kMantissa : kNan;
  const std::uint32_t bits = to_bits(value);
  const std::uint32_t sign = bits >> 31 << (kExponent + kMantissa);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | kNan;
  if (magnitude == 0x7f800000u) return sign | kTop;
  // Subnormal floats have the exponent of the smallest normal float.
  const int field = static_cast<int>(magnitude >> 23);
  const int exponent = (field == 0 ? 1 : field) - 127;
  std::uint32_t code = 0;
  if (exponent >= 1 - kBias && field != 0) {
    code = shift_and_round(magnitude - (static_cast<std::uint32_t>(127 - kBias) << 23), kDropped);
  } else {
    const std::uint32_t significand = (magnitude & 0x7fffffu) | (field == 0 ? 0u : 0x800000u);
    code = shift_and_round(significand, kDropped + 1 - kBias - exponent);
  }
  return sign | (code > kTop ? kTop : code);
}

template <int kExponent, int kMantissa, Infinity kInfinity>
BENCH_BOTH float decode_small(std::uint32_t code) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr std::uint32_t kTop = (1u << kExponent) - 1;
  constexpr std::uint32_t kFractions = (1u << kMantissa) - 1;
  const std::uint32_t sign = code >> (kExponent + kMantissa) << 31;
  const std::uint32_t exponent = code >> kMantissa & kTop;
  const std::uint32_t fraction = code & kFractions;
  if (exponent == kTop && (kInfinity == Infinity::present || fraction == kFractions)) {
    const bool infinite = kInfinity == Infinity::present && fraction == 0;
    return to_float(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  if (exponent == 0) {
    const float magnitude = ldexpf(static_cast<float>(fraction), 1 - kBias - kMantissa);
    return sign != 0 ? -magnitude : magnitude;
  }
  return to_float(sign | (exponent + static_cast<std::uint32_t>(127 - kBias)) << 23 |
                  fraction << (23 - kMantissa));
}

// --- Half precision. The device converts in one instruction, to the same values. The code
// of the CPU has selections instead of branches, which would keep a loop from being vectorised.

BENCH_BOTH float decode_f16(std::uint32_t code) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(static_cast<unsigned short>(code)));
#else
  constexpr std::uint32_t kMinNormal = 0x0400u, kInfinity = 0x7c00u;
  constexpr std::uint32_t kBias = 112u << 23;  // difference of the exponents' biases
  const std::uint32_t magnitude = code & 0x7fffu;
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t normal = shifted + (magnitude >= kInfinity ? 2 * kBias : kBias);
  // As the fraction of a number with the exponent of the smallest normal one, which is subtracted.
  const float smallest = to_float(kBias + (1u << 23));
  const float subnormal = to_float(shifted + kBias + (1u << 23)) - smallest;
  const std::uint32_t bits = magnitude < kMinNormal ? to_bits(subnormal) : normal;
  return to_float(bits | (code & 0x8000u) << 16);
#endif
}

BENCH_BOTH std::uint32_t encode_f16(float value) {
#if defined(__CUDA_ARCH__)
  return __half_as_ushort(__float2half_rn(value));
#else
  constexpr std::uint32_t kInfinity = 0x7c00u, kNan = 0x7fffu;
  constexpr std::uint32_t kTooLarge = 143u << 23;   // 2^16
  constexpr std::uint32_t kMinNormal = 113u << 23;  // 2^-14
  const std::uint32_t bits = to_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t rounded = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  // The sum with 0.5 is rounded to the last bit of a subnormal f16.
  const float shift = to_float(126u << 23);
  const std::uint32_t subnormal = to_bits(to_float(magnitude) + shift) - to_bits(shift);
  std::uint32_t code = magnitude < kMinNormal ? subnormal : rounded;
  code = magnitude >= kTooLarge ? kInfinity : code;
  code = magnitude > 0x7f800000u ? kNan : code;
  return code | bits >> 31 << 15;
#endif
}

// bf16 is the upper half of f32.
BENCH_BOTH float decode_bf16(std::uint32_t code) { return to_float(code << 16); }

BENCH_BOTH std::uint32_t encode_bf16(float value) {
#if defined(__CUDA_ARCH__)
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  const std::uint32_t bits = to_bits(value);
  // Rounds to nearest even, without a branch that would keep a loop from being vectorised.
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return (bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x7fffu : rounded;
#endif
}

// --- Elements. T is the type that the kernel computes in: float or double.

// Returns the value of an element's code, which has at most 32 bits.
template <class T>
BENCH_BOTH T decode_as(Element type, std::uint32_t code) {
  switch (type) {
    case Element::f64:
      break;
    case Element::f32:
      return static_cast<T>(to_float(code));
    case Element::f16:
      return static_cast<T>(decode_f16(code));
    case Element::bf16:
      return static_cast<T>(decode_bf16(code));
    case Element::s32:
      return static_cast<T>(static_cast<std::int32_t>(code));
    case Element::s8:
      return static_cast<T>(static_cast<std::int8_t>(code));
    case Element::u8:
      return static_cast<T>(static_cast<std::uint8_t>(code));
    case Element::f8_e4m3:
      return static_cast<T>(decode_small<4, 3, Infinity::absent>(code));
    case Element::f8_e5m2:
      return static_cast<T>(decode_small<5, 2, Infinity::present>(code));
  }
  return T(0);
}

// Stored elements that are loaded or stored together, with accesses of up to 16 bytes.
template <class StoredElement, int kCount>
struct alignas(sizeof(StoredElement) * kCount < 16 ? sizeof(StoredElement) * kCount
                                                   : 16) StoredRun {
  using Stored = StoredElement;
  static constexpr int kSize = kCount;
  StoredElement at[kCount];
};

template <class Stored, int kRun>
BENCH_BOTH StoredRun<Stored, kRun> load_stored(const void* array, std::int64_t offset) {
  return *reinterpret_cast<const StoredRun<Stored, kRun>*>(static_cast<const Stored*>(array) +
                                                           offset);
}

template <class Stored, int kRun>
BENCH_BOTH void store_stored(void* array, std::int64_t offset,
                             const StoredRun<Stored, kRun>& stored) {
  *reinterpret_cast<StoredRun<Stored, kRun>*>(static_cast<Stored*>(array) + offset) = stored;
}

template <class Stored>
BENCH_BOTH Stored read_as(const void* array, std::int64_t index) {
  return static_cast<const Stored*>(array)[index];
}

template <class T>
BENCH_BOTH T load_as(Element type, const void* array, std::int64_t index) {
  switch (type) {
    case Element::f64:
      return static_cast<T>(read_as<double>(array, index));
    case Element::f32:
      return static_cast<T>(read_as<float>(array, index));
    case Element::s32:
      return static_cast<T>(read_as<std::int32_t>(array, index));
    case Element::f16:
    case Element::bf16:
      return decode_as<T>(type, read_as<std::uint16_t>(array, index));
    case Element::s8:
    case Element::u8:
    case Element::f8_e4m3:
    case Element::f8_e5m2:
      return decode_as<T>(type, read_as<std::uint8_t>(array, index));
  }
  return T(0);
}

// Converts to an integer type: rounds to nearest even and saturates. NaN becomes 0.
template <class Stored>
BENCH_BOTH Stored saturate(double value, double low, double high) {
  if (!(value == value)) return 0;
  const double rounded = std::rint(value);
  return static_cast<Stored>(rounded < low ? low : rounded > high ? high : rounded);
}

// Returns the code of a value, rounded to a type of at most 32 bits.
template <class T>
BENCH_BOTH std::uint32_t encode_as(Element type, T value) {
  const float narrow = static_cast<float>(value);
  switch (type) {
    case Element::f64:
      break;
    case Element::f32:
      return to_bits(narrow);
    case Element::f16:
      return encode_f16(narrow);
    case Element::bf16:
      return encode_bf16(narrow);
    case Element::s32:
      return static_cast<std::uint32_t>(saturate<std::int32_t>(value, -2147483648.0, 2147483647.0));
    case Element::s8:
      return static_cast<std::uint32_t>(saturate<std::int8_t>(value, -128, 127));
    case Element::u8:
      return saturate<std::uint8_t>(value, 0, 255);
    case Element::f8_e4m3:
      return encode_small<4, 3, Infinity::absent>(narrow);
    case Element::f8_e5m2:
      return encode_small<5, 2, Infinity::present>(narrow);
  }
  return 0;
}

template <class Stored, class Value>
BENCH_BOTH void write_as(void* array, std::int64_t index, Value value) {
  static_cast<Stored*>(array)[index] = static_cast<Stored>(value);
}

template <class T>
BENCH_BOTH void store_as(Element type, void* array, std::int64_t index, T value) {
  switch (type) {
    case Element::f64:
      return write_as<double>(array, index, value);
    case Element::f32:
      return write_as<float>(array, index, value);
    case Element::s32:
      return write_as<std::int32_t>(array, index, encode_as(type, value));
    case Element::f16:
    case Element::bf16:
      return write_as<std::uint16_t>(array, index, encode_as(type, value));
    case Element::s8:
    case Element::u8:
    case Element::f8_e4m3:
    case Element::f8_e5m2:
      return write_as<std::uint8_t>(array, index, encode_as(type, value));
  }
}

}  // namespace bench::ops::cuda
