// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace bench {
namespace {

constexpr std::array<DataTypeInfo, 9> kTypes = {{
    {DataType::f64, "f64", 8, 0x1p-52, false, true},
    {DataType::f32, "f32", 4, 0x1p-23, false, true},
    {DataType::f16, "f16", 2, 0x1p-10, false, true},
    {DataType::bf16, "bf16", 2, 0x1p-7, false, true},
    {DataType::s32, "s32", 4, 1, true, false},
    {DataType::s8, "s8", 1, 1, true, true},
    {DataType::u8, "u8", 1, 1, true, true},
    {DataType::f8_e4m3, "f8_e4m3", 1, 0x1p-3, false, true},
    {DataType::f8_e5m2, "f8_e5m2", 1, 0x1p-2, false, true},
}};

// A small binary float: number of explicit `mantissa` bits, exponent bias, and the use of its top
// exponent.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // e4m3 ("fn") has none: only its top code is NaN
  double largest;
};

constexpr SmallFloat kF16{5, 10, 15, true, 65504.0};
constexpr SmallFloat kBf16{8, 7, 127, true, 0x1.FEp127};
constexpr SmallFloat kE4m3{4, 3, 7, false, 448.0};
constexpr SmallFloat kE5m2{5, 2, 15, true, 57344.0};

// Exponent of the leading bit, but not below that of the subnormal numbers. Zero gets the smallest.
int normal_exponent(double magnitude, int smallest) {
  if (magnitude == 0) return smallest;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::max(exponent - 1, smallest);
}

std::uint32_t encode(const SmallFloat& format, double value) {
  const std::uint32_t sign =
      std::signbit(value) ? 1u << (format.exponent_bits + format.mantissa_bits) : 0u;
  const std::uint32_t all_exponent = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  const std::uint32_t nan = all_exponent | ((1u << format.mantissa_bits) - 1);
  if (std::isnan(value)) return sign | nan;
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign | (format.has_infinity ? all_exponent : nan);
  const int smallest = 1 - format.bias;  // exponent of the smallest normal number
  const int unit = normal_exponent(magnitude, smallest) - format.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit);
  if (rounded > format.largest) return sign | (format.has_infinity ? all_exponent : nan);
  // Counting units upwards goes through the encodings in order, including subnormals.
  const int exponent = normal_exponent(rounded, smallest);
  const auto fraction =
      static_cast<std::uint32_t>(std::ldexp(rounded, format.mantissa_bits - exponent));
  const auto base = static_cast<std::uint32_t>(exponent - smallest) << format.mantissa_bits;
  return sign | (base + fraction);
}

double decode(const SmallFloat& format, std::uint32_t code) {
  const int width = format.exponent_bits + format.mantissa_bits;
  const bool negative = ((code >> width) & 1u) != 0;
  const std::uint32_t exponent =
      (code >> format.mantissa_bits) & ((1u << format.exponent_bits) - 1);
  const std::uint32_t fraction = code & ((1u << format.mantissa_bits) - 1);
  const std::uint32_t top = (1u << format.exponent_bits) - 1;
  double magnitude = 0;
  if (exponent == top && (format.has_infinity || fraction == (1u << format.mantissa_bits) - 1)) {
    const bool infinite = format.has_infinity && fraction == 0;
    magnitude = infinite ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - format.bias - format.mantissa_bits);
  } else {
    magnitude = std::ldexp(fraction + (1u << format.mantissa_bits),
                           static_cast<int>(exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

template <class Integer>
Integer saturate(double value) {
  const double low = std::numeric_limits<Integer>::min();
  const double high = std::numeric_limits<Integer>::max();
  if (std::isnan(value)) return 0;
  return static_cast<Integer>(std::clamp(std::nearbyint(value), low, high));
}

template <class T>
void put(void* array, std::size_t index, T value) {
  std::memcpy(static_cast<char*>(array) + index * sizeof(T), &value, sizeof(T));
}

template <class T>
T get(const void* array, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array) + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::span<const DataTypeInfo> data_types() { return kTypes; }

const DataTypeInfo& info(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

bool is_fp8(DataType type) { return type == DataType::f8_e4m3 || type == DataType::f8_e5m2; }

std::optional<DataType> data_type_from_name(std::string_view name) {
  for (const DataTypeInfo& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

void store_element(DataType type, void* array, std::size_t index, double value) {
  switch (type) {
    case DataType::f64:
      return put(array, index, value);
    case DataType::f32:
      return put(array, index, static_cast<float>(value));
    case DataType::f16:
      return put(array, index, static_cast<std::uint16_t>(encode(kF16, value)));
    case DataType::bf16:
      return put(array, index, static_cast<std::uint16_t>(encode(kBf16, value)));
    case DataType::s32:
      return put(array, index, saturate<std::int32_t>(value));
    case DataType::s8:
      return put(array, index, saturate<std::int8_t>(value));
    case DataType::u8:
      return put(array, index, saturate<std::uint8_t>(value));
    case DataType::f8_e4m3:
      return put(array, index, static_cast<std::uint8_t>(encode(kE4m3, value)));
    case DataType::f8_e5m2:
      return put(array, index, static_cast<std::uint8_t>(encode(kE5m2, value)));
  }
}

double load_element(DataType type, const void* array, std::size_t index) {
  switch (type) {
    case DataType::f64:
      return get<double>(array, index);
    case DataType::f32:
      return get<float>(array, index);
    case DataType::f16:
      return decode(kF16, get<std::uint16_t>(array, index));
    case DataType::bf16:
      return std::bit_cast<float>(std::uint32_t{get<std::uint16_t>(array, index)} << 16);
    case DataType::s32:
      return get<std::int32_t>(array, index);
    case DataType::s8:
      return get<std::int8_t>(array, index);
    case DataType::u8:
      return get<std::uint8_t>(array, index);
    case DataType::f8_e4m3:
      return decode(kE4m3, get<std::uint8_t>(array, index));
    case DataType::f8_e5m2:
      return decode(kE5m2, get<std::uint8_t>(array, index));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double round_to(DataType type, double value) {
  std::uint64_t cell = 0;
  store_element(type, &cell, 0, value);
  return load_element(type, &cell, 0);
}

}  // namespace bench
