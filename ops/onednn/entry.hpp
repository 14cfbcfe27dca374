// SPDX-License-Identifier: Apache-2.0
// How an operator gets its oneDNN kernel: one `extern const OnednnKernelEntry <op>_onednn_kernel`
// in ops/<op>/onednn.cpp; the table onednn_kernels() is generated from ops/CMakeLists.txt.
#pragma once

#include "ops/kernel.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace bench::ops {

class OnednnContext;    // ops/onednn/context.hpp: engine, stream, layout choices
class OnednnPrimitive;  // ops/onednn/primitive.hpp: a created primitive with its arguments' memory
                        // descriptors

struct OnednnKernelEntry {
  std::string_view op;
  // Chooses layouts (`any`, or what `preferred` asks for) and creates the primitive of `problem`.
  Result<std::unique_ptr<OnednnPrimitive>, Refusal> (*create)(OnednnContext& context,
                                                              const Problem& problem);
};

std::span<const OnednnKernelEntry* const> onednn_kernels();

}  // namespace bench::ops
