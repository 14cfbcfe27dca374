// SPDX-License-Identifier: Apache-2.0
// The facts about a problem that the rules evaluate. An operator that multiplies matrices derives
// them (Operator::product).
#pragma once

#include "ops/tensor_core/eligibility.hpp"
#include "ops/tensor_core/rules.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A size that prevents rows from being multiples of 16 bytes, and the next size that does not.
struct UnalignedSize {
  std::string_view name;  // "k"
  std::int64_t size;
  std::int64_t padded;
};

struct ProblemFacts {
  TensorCoreFacts facts;
  std::vector<UnalignedSize> unaligned;
};

// --- Helpers of the operators' MatrixProduct::facts.

// Bytes that one thread reads or writes at once, and bytes of a cache line.
inline constexpr std::int64_t kTensorCoreLoad = 16;
inline constexpr std::int64_t kTensorCoreLine = 128;

// Returns the facts that do not depend on the operator; the operator sets the others.
ProblemFacts common_facts(const Problem& problem, const Platform& platform,
                          TensorCoreLibrary library);
// Returns the detail of a part, for writing.
std::string& tensor_core_detail(ProblemFacts& problem, TensorCorePart part);
// Returns the alignment of rows with this many bytes.
RowAlignment row_alignment(std::int64_t bytes);
// Adds the size to `problem.unaligned` if it is not a multiple of 16 bytes. `element`: bytes per
// element.
void check_tensor_core_multiple(ProblemFacts& problem, std::string_view name, std::int64_t size,
                                std::int64_t element);

}  // namespace bench::ops
