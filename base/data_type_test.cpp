// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Coding {
  DataType type;
  int bits;
};
class SmallFloats : public testing::TestWithParam<Coding> {};

double value_of_code(DataType type, std::uint32_t code) {
  return load_element(type, &code, 0);  // little-endian: the low bytes come first
}

std::uint32_t code_of_value(DataType type, double value) {
  std::uint32_t code = 0;
  store_element(type, &code, 0, value);
  return code;
}

// All finite non-negative values in ascending order with their codes.
std::vector<std::pair<double, std::uint32_t>> positive_values(Coding coding) {
  std::vector<std::pair<double, std::uint32_t>> values;
  for (std::uint32_t code = 0; code < 1u << (coding.bits - 1); ++code) {
    const double value = value_of_code(coding.type, code);
    if (std::isfinite(value)) values.emplace_back(value, code);
  }
  return values;
}

TEST_P(SmallFloats, EveryCodeSurvivesTheRoundTrip) {
  const auto [type, bits] = GetParam();
  for (std::uint32_t code = 0; code < 1u << bits; ++code) {
    const double value = value_of_code(type, code);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(round_to(type, value))) << code;
    } else {
      EXPECT_EQ(code_of_value(type, value), code) << value;
    }
  }
}

TEST_P(SmallFloats, CodesAscendWithTheirValues) {
  const auto values = positive_values(GetParam());
  EXPECT_EQ(values.front().first, 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    EXPECT_GT(values[i].first, values[i - 1].first);
    EXPECT_EQ(values[i].second, values[i - 1].second + 1);
  }
}

TEST_P(SmallFloats, RoundsToNearestAndTiesToEven) {
  const DataType type = GetParam().type;
  const auto values = positive_values(GetParam());
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double below = values[i - 1].first;
    const double above = values[i].first;
    const double middle = (below + above) / 2;
    const double even = values[i].second % 2 == 0 ? above : below;
    EXPECT_EQ(round_to(type, middle), even);
    EXPECT_EQ(round_to(type, -middle), -even);
    EXPECT_EQ(round_to(type, std::nextafter(middle, 0)), below);
    EXPECT_EQ(round_to(type, std::nextafter(middle, kInfinity)), above);
  }
}

TEST_P(SmallFloats, SignsOfZeroAndNotANumber) {
  const auto [type, bits] = GetParam();
  EXPECT_EQ(code_of_value(type, 0.0), 0u);
  EXPECT_EQ(code_of_value(type, -0.0), 1u << (bits - 1));
  EXPECT_TRUE(std::signbit(round_to(type, -1e-300)));
  EXPECT_TRUE(std::isnan(round_to(type, std::nan(""))));
  EXPECT_EQ(round_to(type, std::numeric_limits<double>::denorm_min()), 0);
}

TEST_P(SmallFloats, EpsilonIsTheGapAboveOne) {
  const DataType type = GetParam().type;
  const double next = value_of_code(type, code_of_value(type, 1.0) + 1);
  EXPECT_EQ(next - 1.0, info(type).epsilon);
  EXPECT_EQ(info(type).bytes * 8, GetParam().bits);
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloats,
                         testing::Values(Coding{DataType::f16, 16}, Coding{DataType::bf16, 16},
                                         Coding{DataType::f8_e4m3, 8},
                                         Coding{DataType::f8_e5m2, 8}),
                         [](const auto& test) {
                           return std::string(bench::info(test.param.type).name);
                         });

struct Limit {
  DataType type;
  double largest;
  double smallest;  // subnormal
  double beyond;    // result of values above the largest
};

TEST(SmallFloat, LimitsOfTheFormats) {
  const double nan = std::nan("");
  const Limit limits[] = {
      {DataType::f16, 65504, 0x1p-24, kInfinity},
      {DataType::bf16, 0x1.FEp127, 0x1p-133, kInfinity},
      {DataType::f8_e4m3, 448, 0x1p-9, nan},
      {DataType::f8_e5m2, 57344, 0x1p-16, kInfinity},
  };
  for (const Limit& limit : limits) {
    SCOPED_TRACE(info(limit.type).name);
    EXPECT_EQ(round_to(limit.type, limit.largest), limit.largest);
    EXPECT_EQ(round_to(limit.type, limit.smallest), limit.smallest);
    EXPECT_EQ(round_to(limit.type, limit.smallest / 2), 0);
    for (double beyond : {limit.largest * 1.25, 1e300, kInfinity}) {
      const double up = round_to(limit.type, beyond);
      const double down = round_to(limit.type, -beyond);
      EXPECT_EQ(std::isnan(up), std::isnan(limit.beyond));
      EXPECT_EQ(std::isnan(down), std::isnan(limit.beyond));
      if (!std::isnan(limit.beyond)) {
        EXPECT_EQ(up, kInfinity);
        EXPECT_EQ(down, -kInfinity);
      }
    }
  }
}

TEST(SmallFloat, Bfloat16IsTheUpperHalfOfFloat) {
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const float expected = std::bit_cast<float>(code << 16);
    if (!std::isnan(expected)) {
      EXPECT_EQ(value_of_code(DataType::bf16, code), expected);
    }
  }
}

TEST(SmallFloat, KnownCodes) {
  EXPECT_EQ(code_of_value(DataType::f16, 1), 0x3C00u);
  EXPECT_EQ(code_of_value(DataType::f16, -2), 0xC000u);
  EXPECT_EQ(code_of_value(DataType::f16, 65504), 0x7BFFu);
  EXPECT_EQ(code_of_value(DataType::f16, kInfinity), 0x7C00u);
  EXPECT_EQ(code_of_value(DataType::bf16, 1), 0x3F80u);
  EXPECT_EQ(code_of_value(DataType::f8_e4m3, 448), 0x7Eu);
  EXPECT_EQ(code_of_value(DataType::f8_e4m3, 1), 0x38u);
  EXPECT_EQ(code_of_value(DataType::f8_e5m2, 57344), 0x7Bu);
  EXPECT_EQ(code_of_value(DataType::f8_e5m2, kInfinity), 0x7Cu);
  EXPECT_EQ(code_of_value(DataType::f8_e5m2, 1), 0x3Cu);
}

TEST(Integers, EveryCodeOfEightBits) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    EXPECT_EQ(load_element(DataType::u8, &byte, 0), code);
    EXPECT_EQ(load_element(DataType::s8, &byte, 0), static_cast<std::int8_t>(byte));
    EXPECT_EQ(code_of_value(DataType::u8, code), byte);
    EXPECT_EQ(code_of_value(DataType::s8, static_cast<std::int8_t>(byte)), byte);
  }
}

TEST(Integers, SaturateAndRoundToEven) {
  EXPECT_EQ(round_to(DataType::s8, 127.4), 127);
  EXPECT_EQ(round_to(DataType::s8, 1000), 127);
  EXPECT_EQ(round_to(DataType::s8, -1000), -128);
  EXPECT_EQ(round_to(DataType::u8, -1), 0);
  EXPECT_EQ(round_to(DataType::u8, kInfinity), 255);
  EXPECT_EQ(round_to(DataType::s8, 0.5), 0);
  EXPECT_EQ(round_to(DataType::s8, 1.5), 2);
  EXPECT_EQ(round_to(DataType::s8, -2.5), -2);
  EXPECT_EQ(round_to(DataType::s32, 1e300), 2147483647);
  EXPECT_EQ(round_to(DataType::s32, -kInfinity), -2147483648.0);
  EXPECT_EQ(round_to(DataType::s32, std::nan("")), 0);
}

TEST(WideFloats, FollowTheMachine) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(round_to(DataType::f64, value), value);
    if (std::abs(value) < std::numeric_limits<float>::max()) {
      EXPECT_EQ(round_to(DataType::f32, value), static_cast<float>(value));
    }
  }
}

TEST(Elements, StandAtTheirIndexAndTouchNoOther) {
  for (const DataTypeInfo& row : data_types()) {
    SCOPED_TRACE(row.name);
    std::array<unsigned char, 8 * 5> memory{};
    memory.fill(0xA5);
    store_element(row.type, memory.data(), 2, 1.0);
    const auto size = static_cast<std::size_t>(row.bytes);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (i < 2 * size || i >= 3 * size) {
        EXPECT_EQ(memory[i], 0xA5) << i;
      }
    }
    EXPECT_EQ(load_element(row.type, memory.data(), 2), 1.0);
  }
}

TEST(Elements, ManyAreConvertedLikeEachByItself) {
  std::mt19937_64 random(5);
  for (const DataTypeInfo& row : data_types()) {
    SCOPED_TRACE(row.name);
    std::vector<double> values = {0.0,    -0.0,   1e300,
                                  -1e300, 1e-300, std::numeric_limits<double>::infinity()};
    for (int i = 0; i < 1000; ++i)
      values.push_back(std::ldexp(static_cast<double>(random()), -64 - i % 40));
    std::vector<unsigned char> memory(values.size() * static_cast<std::size_t>(row.bytes));
    store_elements(row.type, memory.data(), values);
    std::vector<double> rounded = values;
    round_all_to(row.type, rounded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = round_to(row.type, values[i]);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(rounded[i])) << values[i];
        continue;
      }
      EXPECT_EQ(rounded[i], expected) << values[i];
      EXPECT_EQ(load_element(row.type, memory.data(), i), expected) << values[i];
    }
  }
}

TEST_P(SmallFloats, RandomValuesRoundToTheNearestCode) {
  const auto [type, bits] = GetParam();
  const auto values = positive_values(GetParam());
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t k = random() % (values.size() - 1);
    const double low = values[k].first, high = values[k + 1].first;
    const double value = low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
    const double nearest = value - low < high - value   ? low
                           : value - low > high - value ? high
                           : values[k].second % 2 == 0  ? low
                                                        : high;
    EXPECT_EQ(round_to(type, value), nearest) << value;
    EXPECT_EQ(round_to(type, -value), -nearest) << value;
  }
}

TEST(Names, AreFoundAndInOrder) {
  for (const DataTypeInfo& row : data_types()) {
    EXPECT_EQ(data_type_from_name(row.name), row.type);
    EXPECT_EQ(&info(row.type), &row);
  }
  EXPECT_FALSE(data_type_from_name("fp32"));
  EXPECT_FALSE(data_type_from_name(""));
  EXPECT_FALSE(info(DataType::s32).is_case_type);
}

}  // namespace
}  // namespace bench
