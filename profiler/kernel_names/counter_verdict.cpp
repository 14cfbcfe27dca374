// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/counter_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace bench {
namespace {

// If tensor cores are active for less than this fraction, a library uses them only for setup.
constexpr double kMinActiveShare = 0.01;
// FLOPs of the largest instruction of a warp group: m64n256k32.
constexpr double kMaxInstructionFlops = 1 << 20;

// Maximum relative difference of a count that agrees with the model.
constexpr double kOperationsMargin = 0.02;  // a library adds operations for a bias or a last tile
constexpr double kBytesMargin = 0.10;       // kernels also read parameters, code and descriptors
constexpr double kMultiple = 2;             // minimum ratio of a multiple

constexpr std::array<std::pair<LogicalCounter, std::string_view>, 6> kTensorTypes = {{
    {LogicalCounter::tensor_operations_f16, "f16"},
    {LogicalCounter::tensor_operations_bf16, "bf16"},
    {LogicalCounter::tensor_operations_tf32, "tf32"},
    {LogicalCounter::tensor_operations_fp8, "fp8"},
    {LogicalCounter::tensor_operations_s8, "s8"},
    {LogicalCounter::tensor_operations_f64, "f64"},
}};

std::optional<ModelCheck> check(std::optional<double> measured, double computed, double margin) {
  if (!measured || computed <= 0) return std::nullopt;
  const double ratio = *measured / computed;
  ModelFit fit = ModelFit::equal;
  if (*measured == 0) {
    fit = ModelFit::none;
  } else if (ratio < 1 - margin) {
    fit = ModelFit::less;
  } else if (ratio >= kMultiple) {
    fit = ModelFit::multiple;
  } else if (ratio > 1 + margin) {
    fit = ModelFit::more;
  }
  return ModelCheck{ratio, fit};
}

// In the order of ModelFit.
using Phrases = std::array<std::string_view, 5>;
constexpr Phrases kOperationPhrases = {
    "none: no tensor cores", "fewer: part of the work ran elsewhere, or an algorithm needs less",
    "as computed", "more: tiles are padded",
    "a multiple: padded tiles, or several products in one"};
constexpr Phrases kBytePhrases = {
    "none: all of it stayed in caches", "less: caches held part of it", "as computed",
    "more: read again, padded or copied", "a multiple: read again, padded or copied"};

std::string format_check(const ModelCheck& check, const Phrases& phrases) {
  return fmt::format("{:.3f} of the model, {}", check.ratio,
                     phrases[static_cast<std::size_t>(check.fit)]);
}

// Returns whether a relevant number of operations or instructions was counted, or nullopt if
// neither is known.
std::optional<bool> has_executed(const CounterReadings& readings,
                                 std::optional<std::int64_t> flops) {
  if (const auto operations = tensor_operations(readings)) return *operations > 0;
  std::optional<double> instructions;
  for (const LogicalCounter counter :
       {LogicalCounter::tensor_instructions, LogicalCounter::tensor_group_instructions}) {
    const auto count = find_value(readings, counter);
    if (count) instructions = instructions.value_or(0) + *count;
  }
  if (!instructions) return std::nullopt;
  return *instructions > 0 &&
         *instructions * kMaxInstructionFlops >= static_cast<double>(flops.value_or(0));
}

bool computed_half(const CounterReadings& readings, std::optional<std::int64_t> flops) {
  const double operations = tensor_operations(readings).value_or(0);
  return flops.value_or(0) > 0 && 2 * operations >= static_cast<double>(*flops);
}

}  // namespace

TensorCoreVerdict tensor_core_verdict(const CounterReadings& readings,
                                      std::optional<std::int64_t> flops) {
  const auto share = find_value(readings, LogicalCounter::tensor_active_share);
  const std::optional<bool> executed = has_executed(readings, flops);
  const bool is_active = share.value_or(0) >= kMinActiveShare;
  const bool is_used = executed.value_or(false) && (is_active || computed_half(readings, flops));
  if (is_used) return {TensorCoreUse::used, TensorCoreEvidence::counter, {}};
  const bool is_unused = (executed || share) && !executed.value_or(false) && !is_active;
  if (is_unused) return {TensorCoreUse::not_used, TensorCoreEvidence::counter, {}};
  return {};
}

const TensorCoreVerdict& stronger_verdict(const TensorCoreVerdict& a, const TensorCoreVerdict& b) {
  return b.evidence > a.evidence ? b : a;
}

std::optional<double> tensor_operations(const CounterReadings& readings) {
  std::optional<double> sum;
  for (const auto& [counter, type] : kTensorTypes) {
    const auto operations = find_value(readings, counter);
    if (operations) sum = sum.value_or(0) + *operations;
  }
  return sum;
}

std::vector<std::string_view> tensor_types(const CounterReadings& readings) {
  std::vector<std::string_view> types;
  for (const auto& [counter, type] : kTensorTypes) {
    if (find_value(readings, counter).value_or(0) > 0) types.push_back(type);
  }
  return types;
}

std::optional<double> dram_bytes(const CounterReadings& readings) {
  const auto read = find_value(readings, LogicalCounter::dram_read_bytes);
  const auto written = find_value(readings, LogicalCounter::dram_write_bytes);
  if (!read || !written) return std::nullopt;
  return *read + *written;
}

std::optional<ModelCheck> check_operations(std::optional<double> measured,
                                           std::optional<std::int64_t> flops) {
  return check(measured, static_cast<double>(flops.value_or(0)), kOperationsMargin);
}

std::optional<ModelCheck> check_bytes(std::optional<double> measured,
                                      std::optional<Bytes> compulsory) {
  return check(measured, static_cast<double>(compulsory.value_or(Bytes{}).count), kBytesMargin);
}

std::string format_operation_check(const ModelCheck& check) {
  return format_check(check, kOperationPhrases);
}
std::string format_byte_check(const ModelCheck& check) { return format_check(check, kBytePhrases); }

}  // namespace bench
