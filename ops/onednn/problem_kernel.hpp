// SPDX-License-Identifier: Apache-2.0
// The kernel of one problem: one primitive.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/primitive.hpp"

#include <memory>

namespace bench::ops {

// Allocates scratchpad and workspace: throws std::bad_alloc, dnnl::error. `context` must outlive
// the kernel.
std::unique_ptr<Kernel> make_problem_kernel(const OnednnContext& context, const Problem& problem,
                                            std::unique_ptr<OnednnPrimitive> primitive);

// Formats layouts: "acdb -> acdb, weights Acdb64a": activations, then constant tensors.
std::string layouts_text(const Problem& problem, const OnednnPrimitive& primitive);

}  // namespace bench::ops
