// SPDX-License-Identifier: Apache-2.0
// Kernels of oneDNN: of a problem, and of a network as a chain of primitives.
#pragma once

#include "base/result.hpp"
#include "ops/backend/grouped_parts.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"
#include "ops/onednn/chain.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/primitive.hpp"

#include <dnnl.hpp>

#include <map>
#include <memory>
#include <string>

namespace bench::ops {

// Writes the values of `from` (in layout `from_desc`) to `to` and converts layout and data type.
// Not for timed regions. The buffers must not overlap.
Status transfer(const OnednnContext& context, const dnnl::memory::desc& from_desc, const void* from,
                const dnnl::memory::desc& to_desc, void* to);

// Creates the kernel of one problem, which executes one primitive. Allocates scratchpad and
// workspace: throws std::bad_alloc, dnnl::error. `context` must outlive the kernel. `details`:
// those of the kernel.
std::unique_ptr<Kernel> make_problem_kernel(const OnednnContext& context, const Problem& problem,
                                            std::unique_ptr<OnednnPrimitive> primitive,
                                            std::map<std::string, std::string> details = {});

// Formats layouts: "acdb -> acdb, weights Acdb64a": activations, then constant tensors.
std::string format_layouts(const Problem& problem, const OnednnPrimitive& primitive);

// Creates the kernel of a network, which executes a chain of primitives. Allocates the scratchpad
// and throws std::bad_alloc. `context` must outlive the kernel.
std::unique_ptr<Kernel> make_network_kernel(const OnednnContext& context, const Network& network,
                                            Chain chain);

// The kernel of a problem that consists of several problems of the library.
std::unique_ptr<Kernel> make_parts_kernel(GroupedParts parts);

}  // namespace bench::ops
