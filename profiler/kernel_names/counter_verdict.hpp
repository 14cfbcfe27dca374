// SPDX-License-Identifier: Apache-2.0
// Interprets hardware counters: whether tensor cores ran, and whether the analytical model of an
// operator's work matches what the device did. These functions are pure.
#pragma once

#include "base/units.hpp"
#include "profiler/gpu/logical_counter.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Decides whether tensor cores computed an execution with this many FLOPs (nullopt: unknown).
// Counted operations of tensor cores decide. If there is no such counter, counted instructions
// replace them, from one per 2^20 FLOPs on: Hopper counts about one instruction per warp in kernels
// that do not use tensor cores. "Active" means: in at least 1 % of the cycles in which
// multiprocessors worked.
// used: operations or instructions were counted, and tensor cores were active. Operations of at
//   least half of the FLOPs are enough by themselves: a product may wait for memory.
// not_used: operations or instructions are known, and none were counted (or only an activity is
//   known), and tensor cores were not active.
// unknown: no counter is known, or the known counters contradict each other. For example, a library
//   only set something up.
TensorCoreVerdict tensor_core_verdict(const CounterReadings& readings,
                                      std::optional<std::int64_t> flops);

// Returns the better supported of two verdicts on the same kernel: a counter outranks the note of
// an engine, which outranks a name, which outranks nothing.
const TensorCoreVerdict& stronger_verdict(const TensorCoreVerdict& a, const TensorCoreVerdict& b);

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

// Compares operations. equal: within 2 %. less: part of the work ran elsewhere, or an algorithm
// needs fewer operations (Winograd). more, or multiple from a ratio of 2: tiles are padded, or
// several products compute one. Returns nullopt if either value is unknown or `flops` is 0.
std::optional<ModelCheck> check_operations(std::optional<double> measured,
                                           std::optional<std::int64_t> flops);
// Compares bytes; equal means within 10 %. Less: caches held part of it. More: read again, padded
// or copied.
std::optional<ModelCheck> check_bytes(std::optional<double> measured,
                                      std::optional<Bytes> compulsory);

// Formats "1.002 of the model, as computed". Operations and bytes have different wordings.
std::string format_operation_check(const ModelCheck& check);
std::string format_byte_check(const ModelCheck& check);

}  // namespace bench
