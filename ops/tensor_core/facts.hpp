// SPDX-License-Identifier: Apache-2.0
// From a problem to what the rules look at.
#pragma once

#include "ops/tensor_core/eligibility.hpp"
#include "ops/tensor_core/rules.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A size that keeps rows from being multiples of 16 bytes, and the next one that does not.
struct UnalignedSize {
  std::string_view name;  // "k"
  std::int64_t size;
  std::int64_t padded;
};

struct ProblemFacts {
  TensorCoreFacts facts;
  std::vector<UnalignedSize> unaligned;
};

// Absent: the operator multiplies no matrices, or no rule knows it.
std::optional<ProblemFacts> facts_of(const Problem& problem, const Platform& platform);

// What cuDNN copies around a convolution that runs on tensor cores: tensors in nchw, and channels
// that are no multiple of 16 bytes. Absent: nothing, or it is not known (groups, 8-bit types).
std::optional<LibraryCopies> copies_of(const Problem& convolution, const TensorCoreFacts& facts);

}  // namespace bench::ops
