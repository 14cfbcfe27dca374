// SPDX-License-Identifier: Apache-2.0
// Derives from a problem the facts that the rules evaluate.
#pragma once

#include "ops/tensor_core/eligibility.hpp"
#include "ops/tensor_core/rules.hpp"

#include <optional>
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

// Returns nullopt if the operator multiplies no matrices, or no rule covers it.
std::optional<ProblemFacts> facts_of(const Problem& problem, const Platform& platform);

// The copies that cuDNN makes around a convolution on tensor cores: tensors in nchw, and channels
// that are not a multiple of 16 bytes. Returns nullopt if there are none or it is unknown (groups,
// 8-bit types).
std::optional<LibraryCopies> copies_of(const Problem& convolution, const TensorCoreFacts& facts);

}  // namespace bench::ops
