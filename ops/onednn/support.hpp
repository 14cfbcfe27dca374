// SPDX-License-Identifier: Apache-2.0
// Which problems have a oneDNN kernel, and the messages for those that do not.
#pragma once

#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

const OnednnKernelEntry* find_onednn_kernel(std::string_view op);  // nullptr if there is none

// Formats "conv backward_data f16", "conv forward f32 +add +relu".
std::string describe(const Problem& problem);

// Refuses tensors that oneDNN cannot describe.
Result<Done, BackendError> check_tensors(const Problem& problem);
// Refuses what no oneDNN version supports on a CPU, before the library is queried.
Result<Done, BackendError> check_supported(const Problem& problem);

// Refuses (skipped) if `needed` exceeds the memory that the machine has available. nullopt means
// more than 2^63 - 1 bytes. `what` is for the reason.
Result<Done, BackendError> check_memory(std::optional<Bytes> needed, std::string_view what);
// The total of plain sizes; nullopt if it exceeds 2^63 - 1 bytes.
std::optional<Bytes> total_size(std::span<const Tensor> tensors);

// Replaces the reason by the data type if the library does not support that type on this CPU at
// all.
BackendError with_data_type_cause(OnednnContext& context, DataType type, BackendError error);

}  // namespace bench::ops
