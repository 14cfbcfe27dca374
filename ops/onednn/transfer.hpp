// SPDX-License-Identifier: Apache-2.0
// Converts buffers between layouts and data types, outside of timed regions.
#pragma once

#include "base/result.hpp"
#include "ops/onednn/context.hpp"

#include <dnnl.hpp>

namespace bench::ops {

// Writes the values of `from` (in layout `from_desc`) to `to`. The buffers must not overlap.
Status transfer(const OnednnContext& context, const dnnl::memory::desc& from_desc, const void* from,
                const dnnl::memory::desc& to_desc, void* to);

}  // namespace bench::ops
