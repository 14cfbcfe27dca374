// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/transfer.hpp"

#include "ops/onednn/guard.hpp"

#include <cstring>

namespace bench::ops {

Status transfer(const OnednnContext& context, const dnnl::memory::desc& from_desc, const void* from,
                const dnnl::memory::desc& to_desc, void* to) {
  if (from_desc == to_desc) {
    std::memcpy(to, from, from_desc.get_size());
    return Done{};
  }
  return guarded_step("a conversion of layouts", [&]() -> Status {
    // The library takes non-const pointers for what it only reads.
    dnnl::memory source(from_desc, context.engine(), const_cast<void*>(from));
    dnnl::memory destination(to_desc, context.engine(), to);
    dnnl::stream stream = context.stream();
    dnnl::reorder(source, destination).execute(stream, source, destination);
    stream.wait();
    return Done{};
  });
}

}  // namespace bench::ops
