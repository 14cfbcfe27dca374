// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/logical_counter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace {

using Unit = CounterUnit;

constexpr std::array<LogicalCounterRow, 13> kLogicalCounters = {{
    {LogicalCounter::tensor_instructions, "tensor_instructions", Unit::count,
     "instructions of warps that tensor cores executed"},
    {LogicalCounter::tensor_group_instructions, "tensor_group_instructions", Unit::count,
     "instructions of warp groups (wgmma) that tensor cores executed; Hopper counts them "
     "separately"},
    {LogicalCounter::tensor_active_share, "tensor_active_share", Unit::share,
     "active cycles of the tensor cores / active cycles of the multiprocessor"},
    {LogicalCounter::tensor_operations_f16, "tensor_operations_f16", Unit::count,
     "tensor-core operations on f16; a multiply-add counts as 2"},
    {LogicalCounter::tensor_operations_bf16, "tensor_operations_bf16", Unit::count,
     "tensor-core operations on bf16"},
    {LogicalCounter::tensor_operations_tf32, "tensor_operations_tf32", Unit::count,
     "tensor-core operations on f32 rounded to TF32"},
    {LogicalCounter::tensor_operations_fp8, "tensor_operations_fp8", Unit::count,
     "tensor-core operations on 8-bit floating point; some chips include smaller types"},
    {LogicalCounter::tensor_operations_s8, "tensor_operations_s8", Unit::count,
     "tensor-core operations on 8-bit integers"},
    {LogicalCounter::tensor_operations_f64, "tensor_operations_f64", Unit::count,
     "tensor-core operations on f64"},
    {LogicalCounter::dram_read_bytes, "dram_read_bytes", Unit::bytes,
     "bytes read from device memory"},
    {LogicalCounter::dram_write_bytes, "dram_write_bytes", Unit::bytes,
     "bytes written to device memory"},
    {LogicalCounter::l2_hit_share, "l2_hit_share", Unit::share,
     "L2 sectors found / L2 sectors looked up"},
    {LogicalCounter::achieved_occupancy, "achieved_occupancy", Unit::share,
     "average resident warps of an active multiprocessor / warps that it can hold"},
}};

}  // namespace

std::span<const LogicalCounterRow> logical_counters() { return kLogicalCounters; }

const LogicalCounterRow& counter_row(LogicalCounter counter) {
  return kLogicalCounters[static_cast<std::size_t>(counter)];
}

const LogicalCounterRow* find_logical_counter(std::string_view name) {
  const auto* const row =
      std::find_if(kLogicalCounters.begin(), kLogicalCounters.end(),
                   [&](const LogicalCounterRow& known) { return known.name == name; });
  return row == kLogicalCounters.end() ? nullptr : row;
}

std::optional<double> find_value(const CounterReadings& readings, LogicalCounter counter) {
  const auto found = readings.find(std::string(counter_row(counter).name));
  return found == readings.end() ? std::nullopt : found->second.value;
}

std::string format_reading(std::string_view name, const CounterReading& reading) {
  if (!reading.value) return fmt::format("n/a: {}", reading.source);
  const LogicalCounterRow* row = find_logical_counter(name);
  // A counter with a name that is not in the table has no known unit; its value is written
  // unchanged.
  if (row == nullptr) return fmt::format("{}", *reading.value);
  return row->unit == CounterUnit::share ? fmt::format("{:.4f}", *reading.value)
                                         : fmt::format("{:.0f}", *reading.value);
}

}  // namespace bench
