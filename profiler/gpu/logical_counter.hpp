// SPDX-License-Identifier: Apache-2.0
// Logical hardware counters of a GPU, independent of the chip's metric names, and their readings.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

enum class LogicalCounter {
  tensor_instructions,
  tensor_group_instructions,
  tensor_active_share,
  tensor_operations_f16,
  tensor_operations_bf16,
  tensor_operations_tf32,
  tensor_operations_fp8,
  tensor_operations_s8,
  tensor_operations_f64,
  dram_read_bytes,
  dram_write_bytes,
  l2_hit_share,
  achieved_occupancy,
};

enum class CounterUnit { count, bytes, share };  // share: a fraction from 0 to 1

struct LogicalCounterRow {
  LogicalCounter counter;
  std::string_view name;  // name of the enumerator
  CounterUnit unit;
  std::string_view meaning;  // one line
};
// One row per logical counter, in the order of the enumerators.
std::span<const LogicalCounterRow> logical_counters();
const LogicalCounterRow& counter_row(LogicalCounter counter);
const LogicalCounterRow* find_logical_counter(std::string_view name);  // nullptr if unknown

// A counter's value for one execution. An unknown value is nullopt, never 0.
struct CounterReading {
  std::optional<double> value;
  std::string source;  // metrics from which the value comes; if it is nullopt, the reason
  friend bool operator==(const CounterReading&, const CounterReading&) = default;
};
using CounterReadings = std::map<std::string, CounterReading>;  // key: name of the logical counter

std::optional<double> find_value(const CounterReadings& readings, LogicalCounter counter);

// Formats a reading: "1048576", "0.8312", "n/a: GA10B has no ..."
std::string format_reading(std::string_view name, const CounterReading& reading);

}  // namespace bench
