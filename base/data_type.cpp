// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

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

// Format of a binary float of at most 16 bits: a sign, an exponent and a mantissa.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;  // without the implicit leading 1
  int bias;
  bool has_infinity;  // false for e4m3 ("fn"): only its top code is not a number
  double largest;     // finite value
};

constexpr SmallFloat kF16{5, 10, 15, true, 65504.0};
constexpr SmallFloat kBf16{8, 7, 127, true, 0x1.FEp127};
constexpr SmallFloat kE4m3{4, 3, 7, false, 448.0};
constexpr SmallFloat kE5m2{5, 2, 15, true, 57344.0};

// Returns the exponent of the leading bit, but at least `smallest`, the exponent of the smallest
// normal number. Returns `smallest` for zero.
int normal_exponent(double magnitude, int smallest) {
  if (magnitude == 0) return smallest;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::max(exponent - 1, smallest);
}

// Encodes any value, with floating-point arithmetic: slow.
std::uint32_t encode_any(const SmallFloat& format, double value) {
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

// Decodes any code, with floating-point arithmetic: slow.
double decode_any(const SmallFloat& format, std::uint32_t code) {
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

// Converts between double and a small float that is stored in a `Cell`. Inputs have millions of
// elements, and nearly all are normal numbers. Integer operations on the bits of the double convert
// these.
template <const SmallFloat& kFormat, class CellType>
struct SmallFloatCodec {
  using Cell = CellType;
  static constexpr int kDropped = 52 - kFormat.mantissa_bits;  // excess mantissa bits of a double
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  // Difference of the exponent biases, at the position of the format's exponent
  static constexpr std::uint64_t kBiasDifference = std::uint64_t{1023 - kFormat.bias}
                                                   << kFormat.mantissa_bits;
  // Bits of the format's smallest normal number as a double, and of its largest number without the
  // dropped bits
  static constexpr std::uint64_t kMinNormalBits = std::uint64_t{1024 - kFormat.bias} << 52;
  static constexpr std::uint64_t kMaxFiniteBits =
      std::bit_cast<std::uint64_t>(kFormat.largest) >> kDropped;

  static Cell encode(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = bits & ~kSign;
    const std::uint64_t is_odd = (magnitude >> kDropped) & 1;
    const std::uint64_t rounded =
        (magnitude + ((std::uint64_t{1} << (kDropped - 1)) - 1) + is_odd) >> kDropped;
    if (magnitude < kMinNormalBits || rounded > kMaxFiniteBits)
      return static_cast<Cell>(encode_any(kFormat, value));
    const int width = kFormat.exponent_bits + kFormat.mantissa_bits;
    return static_cast<Cell>((bits >> 63 << width) | (rounded - kBiasDifference));
  }

  static double decode(Cell code) {
    const std::uint64_t exponent =
        (code >> kFormat.mantissa_bits) & ((1u << kFormat.exponent_bits) - 1);
    if (exponent == 0 || exponent == (1u << kFormat.exponent_bits) - 1)
      return decode_any(kFormat, code);
    const int width = kFormat.exponent_bits + kFormat.mantissa_bits;
    const std::uint64_t magnitude = code & ((std::uint64_t{1} << width) - 1);
    const std::uint64_t sign = std::uint64_t{code} >> width << 63;
    return std::bit_cast<double>(sign | (magnitude + kBiasDifference) << kDropped);
  }
};

// Converts between double and a type of C++. Integers saturate; NaN becomes 0.
template <class Number>
struct NumberCodec {
  using Cell = Number;
  static Cell encode(double value) {
    if constexpr (std::is_floating_point_v<Number>) return static_cast<Number>(value);
    const double low = std::numeric_limits<Number>::min();
    const double high = std::numeric_limits<Number>::max();
    if (std::isnan(value)) return 0;
    return static_cast<Number>(std::clamp(std::nearbyint(value), low, high));
  }
  static double decode(Cell value) { return value; }
};

// Calls `use` with the codec of the type and returns its result.
template <class Use>
auto with_codec(DataType type, const Use& use) {
  switch (type) {
    case DataType::f64:
      return use(NumberCodec<double>());
    case DataType::f32:
      return use(NumberCodec<float>());
    case DataType::f16:
      return use(SmallFloatCodec<kF16, std::uint16_t>());
    case DataType::bf16:
      return use(SmallFloatCodec<kBf16, std::uint16_t>());
    case DataType::s32:
      return use(NumberCodec<std::int32_t>());
    case DataType::s8:
      return use(NumberCodec<std::int8_t>());
    case DataType::u8:
      return use(NumberCodec<std::uint8_t>());
    case DataType::f8_e4m3:
      return use(SmallFloatCodec<kE4m3, std::uint8_t>());
    case DataType::f8_e5m2:
      return use(SmallFloatCodec<kE5m2, std::uint8_t>());
  }
  std::abort();  // no other value exists
}

template <class Cell>
void store_cell(void* array, std::size_t index, Cell value) {
  std::memcpy(static_cast<char*>(array) + index * sizeof(Cell), &value, sizeof(Cell));
}

template <class Cell>
Cell load_cell(const void* array, std::size_t index) {
  Cell value;
  std::memcpy(&value, static_cast<const char*>(array) + index * sizeof(Cell), sizeof(Cell));
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
  with_codec(type, [&](auto codec) { store_cell(array, index, codec.encode(value)); });
}

void store_elements(DataType type, void* array, std::span<const double> values) {
  with_codec(type, [&](auto codec) {
    for (std::size_t i = 0; i < values.size(); ++i) store_cell(array, i, codec.encode(values[i]));
  });
}

double load_element(DataType type, const void* array, std::size_t index) {
  return with_codec(type, [&](auto codec) {
    return codec.decode(load_cell<typename decltype(codec)::Cell>(array, index));
  });
}

double round_to(DataType type, double value) {
  return with_codec(type, [&](auto codec) { return codec.decode(codec.encode(value)); });
}

void round_all_to(DataType type, std::span<double> values) {
  with_codec(type, [&](auto codec) {
    for (double& value : values) value = codec.decode(codec.encode(value));
  });
}

}  // namespace bench
