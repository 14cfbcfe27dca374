// SPDX-License-Identifier: Apache-2.0
// How an operator gets its oneDNN kernel: one `extern const OnednnKernelEntry <op>_onednn_kernel`
// in ops/<op>/onednn.cpp. The table onednn_kernels() is generated from ops/CMakeLists.txt.
#pragma once

#include "ops/backend/kernel.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace bench::ops {

class OnednnContext;     // ops/onednn/context.hpp: engine, stream, layout choices
struct OnednnPrimitive;  // ops/onednn/primitive.hpp: a created primitive with its arguments' memory
                         // descriptors
struct OnednnRequest;    // ops/onednn/primitive.hpp: a problem, and what a chain knows about it

struct OnednnKernelEntry {
  std::string_view op;
  // Chooses layouts and creates the primitive. The layout is that of the problem's `layout` if it
  // fixes one, else that of the request, else the library's preference. May throw dnnl::error: call
  // it through ops/onednn/guard.hpp.
  Result<std::unique_ptr<OnednnPrimitive>, Refusal> (*create)(OnednnContext& context,
                                                              const OnednnRequest& request);
};

std::span<const OnednnKernelEntry* const> onednn_kernels();

}  // namespace bench::ops
