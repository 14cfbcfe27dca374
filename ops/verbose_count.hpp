// SPDX-License-Identifier: Apache-2.0
// Counts the work of oneDNN's primitives that no operator of this program computes. docs/
// work_model.md has the formulas.
#pragma once

#include "base/checked.hpp"
#include "ops/problem.hpp"
#include "ops/verbose.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::ops {

struct PrimitiveCount {
  std::optional<std::int64_t> macs = std::nullopt;
  Checked flops = 0;
  // The tensors that the primitive reads or writes; the last one is the result. Their names are
  // those of a problem's tensors, or those in the line ("src_layer"), which also states the types.
  std::vector<Tensor> tensors = {};
};

// Returns nullopt if the primitive is unknown, or the line lacks information.
std::optional<PrimitiveCount> count_other_primitive(const VerbosePrimitive& primitive);

}  // namespace bench::ops
