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

// --- What MatrixProduct::facts of the operators share.

inline constexpr std::int64_t kTensorCoreLoad =
    16;  // bytes that one thread reads or writes at once
inline constexpr std::int64_t kTensorCoreLine = 128;  // bytes of a line of the caches

// Returns the facts that do not depend on the operator; the operator sets the others.
ProblemFacts common_facts(const Problem& problem, const Platform& platform,
                          TensorCoreLibrary library);
std::string& tensor_core_detail(ProblemFacts& problem, TensorCorePart part);
// Returns the alignment of rows of so many bytes.
RowAlignment row_alignment(std::int64_t bytes);
// Records a size that is not a multiple of 16 bytes. `element`: bytes of an element.
void check_tensor_core_multiple(ProblemFacts& problem, std::string_view name, std::int64_t size,
                                std::int64_t element);

}  // namespace bench::ops
