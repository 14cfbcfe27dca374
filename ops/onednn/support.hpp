// SPDX-License-Identifier: Apache-2.0
// Which problems have a oneDNN kernel, and the words for those that have none.
#pragma once

#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/entry.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

const OnednnKernelEntry* find_onednn_kernel(std::string_view op);  // nullptr when there is none

// "conv backward_data f16", "conv forward f32 +add +relu"
std::string describe(const Problem& problem);

// Refuses tensors that oneDNN cannot describe.
Result<Done, Refusal> check_tensors(const Problem& problem);
// Refuses what no oneDNN on a CPU has, before the library is asked.
Result<Done, Refusal> check_supported(const Problem& problem);

// Refuses (skipped) when `needed` is more than the machine can give now, absent: more than 2^63 - 1
// bytes. `what` for the reason.
Result<Done, Refusal> check_memory(std::optional<Bytes> needed, std::string_view what);
// Plain sizes.
std::optional<Bytes> total_size(std::span<const Tensor> tensors);

// Names the data type as the cause where the library does not compute with it on this CPU at all.
Refusal with_data_type_cause(OnednnContext& context, DataType type, Refusal refusal);

}  // namespace bench::ops
