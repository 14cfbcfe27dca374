// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, and exact conversions of values on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bench {

enum class DataType { f64, f32, f16, bf16, s32, s8, u8, f8_e4m3, f8_e5m2 };

struct DataTypeInfo {
  DataType type;
  std::string_view name;
  std::int64_t bytes;  // size of an element
  double epsilon;      // distance from 1 to the next value; 1 for integers
  bool is_integer;
  bool is_case_type;  // permitted for `dtype:`; s32 is only a type of accumulators
};

// Returns all types in declaration order; the only definition of names and sizes.
std::span<const DataTypeInfo> data_types();
const DataTypeInfo& info(DataType type);
// Returns true for f8_e4m3 and f8_e5m2.
bool is_fp8(DataType type);
std::optional<DataType> data_type_from_name(std::string_view name);

// Rounds `value` to nearest even and writes it as element `index` of a plain array. Integer types
// saturate and store NaN as 0. In the other types, a value out of range becomes infinity, or NaN in
// f8_e4m3.
void store_element(DataType type, void* array, std::size_t index, double value);
// Writes `values` as elements 0, 1, ... of a plain array.
void store_elements(DataType type, void* array, std::span<const double> values);
// Returns element `index` of a plain array; exact, since double can represent all values of all
// types.
double load_element(DataType type, const void* array, std::size_t index);
// Returns the nearest value that `type` can represent.
double round_to(DataType type, double value);
// Replaces each value by round_to() of it.
void round_all_to(DataType type, std::span<double> values);

}  // namespace bench
