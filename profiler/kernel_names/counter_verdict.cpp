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

// Below this fraction, a library only uses them for setup.
constexpr double kMinActiveShare = 0.01;

constexpr double kOperationsMargin = 0.02;  // a library adds a few for a bias or a last tile
constexpr double kBytesMargin = 0.10;       // launch parameters, code, descriptors
constexpr double kMultiple = 2;

constexpr std::array<std::pair<LogicalCounter, std::string_view>, 6> kTypes = {{
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
using Words = std::array<std::string_view, 5>;
constexpr Words kOperationsWords = {
    "none: no tensor cores", "fewer: part of the work ran elsewhere, or an algorithm needs less",
    "as computed", "more: tiles are padded",
    "a multiple: padded tiles, or several products in one"};
constexpr Words kBytesWords = {"none: all of it stayed in caches", "less: caches held part of it",
                               "as computed", "more: read again, padded or copied",
                               "a multiple: read again, padded or copied"};

std::string text(const ModelCheck& check, const Words& words) {
  return fmt::format("{:.3f} of the model, {}", check.ratio,
                     words[static_cast<std::size_t>(check.fit)]);
}

}  // namespace

TensorCoreVerdict tensor_core_verdict(const CounterReadings& readings) {
  const auto share = find_value(readings, LogicalCounter::tensor_active_share);
  const std::optional<double> executed[] = {
      find_value(readings, LogicalCounter::tensor_instructions),
      find_value(readings, LogicalCounter::tensor_group_instructions), tensor_operations(readings)};
  const bool counted =
      std::ranges::any_of(executed, [](const auto& each) { return each.has_value(); });
  const bool ran =
      std::ranges::any_of(executed, [](const auto& each) { return each.value_or(0) > 0; });
  const bool active = share.value_or(0) >= kMinActiveShare;
  if (ran && active) return {TensorCoreUse::used, TensorCoreEvidence::counter, {}};
  const bool none = (counted || share) && !ran && !active;
  if (none) return {TensorCoreUse::not_used, TensorCoreEvidence::counter, {}};
  return {};
}

const TensorCoreVerdict& stronger_verdict(const TensorCoreVerdict& a, const TensorCoreVerdict& b) {
  return b.evidence > a.evidence ? b : a;
}

std::optional<double> tensor_operations(const CounterReadings& readings) {
  std::optional<double> sum;
  for (const auto& [counter, type] : kTypes) {
    const auto operations = find_value(readings, counter);
    if (operations) sum = sum.value_or(0) + *operations;
  }
  return sum;
}

std::vector<std::string_view> tensor_types(const CounterReadings& readings) {
  std::vector<std::string_view> types;
  for (const auto& [counter, type] : kTypes) {
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
  return text(check, kOperationsWords);
}
std::string format_byte_check(const ModelCheck& check) { return text(check, kBytesWords); }

}  // namespace bench
