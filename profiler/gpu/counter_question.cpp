// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/counter_question.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace {

using Question = LogicalCounter;
using Unit = CounterUnit;

constexpr std::array<CounterQuestionRow, 13> kQuestions = {{
    {Question::tensor_instructions, "tensor_instructions", Unit::count,
     "instructions of warps that tensor cores executed"},
    {Question::tensor_group_instructions, "tensor_group_instructions", Unit::count,
     "instructions of warp groups (wgmma) that tensor cores executed; Hopper counts them "
     "separately"},
    {Question::tensor_active_share, "tensor_active_share", Unit::share,
     "active cycles of the tensor cores / active cycles of the multiprocessor"},
    {Question::tensor_operations_f16, "tensor_operations_f16", Unit::count,
     "tensor-core operations on f16; a multiply-add counts as 2"},
    {Question::tensor_operations_bf16, "tensor_operations_bf16", Unit::count,
     "tensor-core operations on bf16"},
    {Question::tensor_operations_tf32, "tensor_operations_tf32", Unit::count,
     "tensor-core operations on f32 rounded to TF32"},
    {Question::tensor_operations_fp8, "tensor_operations_fp8", Unit::count,
     "tensor-core operations on 8-bit floating point; some chips include smaller types"},
    {Question::tensor_operations_s8, "tensor_operations_s8", Unit::count,
     "tensor-core operations on 8-bit integers"},
    {Question::tensor_operations_f64, "tensor_operations_f64", Unit::count,
     "tensor-core operations on f64"},
    {Question::dram_read_bytes, "dram_read_bytes", Unit::bytes, "bytes read from device memory"},
    {Question::dram_write_bytes, "dram_write_bytes", Unit::bytes, "bytes written to device memory"},
    {Question::l2_hit_share, "l2_hit_share", Unit::share,
     "L2 sectors found / L2 sectors looked up"},
    {Question::achieved_occupancy, "achieved_occupancy", Unit::share,
     "average resident warps of an active multiprocessor / warps that it can hold"},
}};

}  // namespace

std::span<const CounterQuestionRow> counter_questions() { return kQuestions; }

const CounterQuestionRow& row_of(LogicalCounter question) {
  return kQuestions[static_cast<std::size_t>(question)];
}

const CounterQuestionRow* find_counter_question(std::string_view name) {
  const auto* const row =
      std::find_if(kQuestions.begin(), kQuestions.end(),
                   [&](const CounterQuestionRow& known) { return known.name == name; });
  return row == kQuestions.end() ? nullptr : row;
}

std::optional<double> value_of(const CounterReadings& readings, LogicalCounter question) {
  const auto found = readings.find(std::string(row_of(question).name));
  return found == readings.end() ? std::nullopt : found->second.value;
}

std::string text_of(std::string_view name, const CounterReading& reading) {
  if (!reading.value) return fmt::format("n/a: {}", reading.source);
  const CounterQuestionRow* row = find_counter_question(name);
  // A counter with a name that is not in the table has no known unit; its value is written
  // unchanged.
  if (row == nullptr) return fmt::format("{}", *reading.value);
  return row->unit == CounterUnit::share ? fmt::format("{:.4f}", *reading.value)
                                         : fmt::format("{:.0f}", *reading.value);
}

}  // namespace bench
