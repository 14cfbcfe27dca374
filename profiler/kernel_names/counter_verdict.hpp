// SPDX-License-Identifier: Apache-2.0
// What hardware counters say: whether tensor cores ran, and whether the analytical model of an
// operator's work agrees with what the device did. Pure.
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

// Used where tensor cores executed instructions or operations and were active for at least 1 % of
// the cycles in which multiprocessors worked. Not used where none of the counters that are known
// says so: Hopper counts its warp-group instructions apart, so that one counter of 0 says little.
// Unknown where they contradict each other: fewer cycles may be a library's way of setting
// something up, or a product that waits for memory.
TensorCoreVerdict tensor_core_verdict(const CounterReadings& readings);

// Of two verdicts on the same: a counter outranks a name, a name outranks nothing.
const TensorCoreVerdict& stronger(const TensorCoreVerdict& a, const TensorCoreVerdict& b);

// Operations of tensor cores, all types together; absent where no type was counted.
std::optional<double> tensor_operations(const CounterReadings& readings);
// The types that tensor cores multiplied, in the order of the questions: {"bf16"}.
std::vector<std::string_view> tensor_types(const CounterReadings& readings);
// Read and written; absent unless both are known.
std::optional<double> dram_bytes(const CounterReadings& readings);

// How what was measured stands to what was computed.
enum class ModelFit { none, less, equal, more, multiple };

struct ModelCheck {
  double ratio = 0;  // measured to computed
  ModelFit fit = ModelFit::none;
  friend bool operator==(const ModelCheck&, const ModelCheck&) = default;
};

// Operations: equal within 2 %. Fewer: part of the work ran elsewhere, or an algorithm needs less
// (Winograd). More, and from 2 on a multiple: tiles are padded, or one product is made of several.
// Absent where one of the two is unknown or nothing was to be done.
std::optional<ModelCheck> check_operations(std::optional<double> measured,
                                           std::optional<std::int64_t> flops);
// Bytes: equal within 10 %. Less: caches held part of it. More: read again, padded or copied.
std::optional<ModelCheck> check_bytes(std::optional<double> measured,
                                      std::optional<Bytes> compulsory);

// "1.002 of the model, as computed"; operations and bytes have words of their own.
std::string operations_text(const ModelCheck& check);
std::string bytes_text(const ModelCheck& check);

}  // namespace bench
