// SPDX-License-Identifier: Apache-2.0
// Interprets hardware counters: whether tensor cores ran, and whether the analytical model of an
// operator's work matches what the device did. These functions are pure.
#pragma once

#include "base/units.hpp"
#include "profiler/gpu/counter_question.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// used: tensor cores executed instructions or operations and were active in at least 1 % of the
//   cycles in which multiprocessors worked.
// not_used: no known counter shows a use. Hopper counts warp-group instructions separately, so a
//   single counter of 0 proves little.
// unknown: the counters contradict each other. With fewer active cycles, a library may only set
//   something up, or a product may wait for memory.
TensorCoreVerdict tensor_core_verdict(const CounterReadings& readings);

// Returns the better supported of two verdicts on the same kernel: a counter outranks a name, and a
// name outranks nothing.
const TensorCoreVerdict& stronger(const TensorCoreVerdict& a, const TensorCoreVerdict& b);

// Returns the operations of tensor cores over all types, or nullopt if no type was counted.
std::optional<double> tensor_operations(const CounterReadings& readings);
// Returns the types that tensor cores multiplied, in the order of the logical counters: {"bf16"}.
std::vector<std::string_view> tensor_types(const CounterReadings& readings);
// Returns bytes read plus written, or nullopt unless both are known.
std::optional<double> dram_bytes(const CounterReadings& readings);

// Relation of the measured to the computed value.
enum class ModelFit { none, less, equal, more, multiple };

struct ModelCheck {
  double ratio = 0;  // measured / computed
  ModelFit fit = ModelFit::none;
  friend bool operator==(const ModelCheck&, const ModelCheck&) = default;
};

// Compares operations; equal means within 2 %. Fewer: part of the work ran elsewhere, or an
// algorithm needs less (Winograd). More, and from 2 on a multiple: tiles are padded, or one product
// is made of several. Returns nullopt if either value is unknown or there was nothing to do.
std::optional<ModelCheck> check_operations(std::optional<double> measured,
                                           std::optional<std::int64_t> flops);
// Compares bytes; equal means within 10 %. Less: caches held part of it. More: read again, padded
// or copied.
std::optional<ModelCheck> check_bytes(std::optional<double> measured,
                                      std::optional<Bytes> compulsory);

// Formats "1.002 of the model, as computed". Operations and bytes have different wordings.
std::string operations_text(const ModelCheck& check);
std::string bytes_text(const ModelCheck& check);

}  // namespace bench
