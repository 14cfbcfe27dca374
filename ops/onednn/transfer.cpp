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
    // The library takes non-const pointers to data that it only reads.
    dnnl::memory source = context.view(from_desc, const_cast<void*>(from));
    dnnl::memory destination = context.view(to_desc, to);
    dnnl::stream stream = context.stream();
    const auto description = context.call("dnnl_reorder_primitive_desc_create", [&] {
      return dnnl::reorder::primitive_desc(source, destination);
    });
    const auto reorder =
        context.call("dnnl_primitive_create", [&] { return dnnl::reorder(description); });
    context.call("dnnl_primitive_execute", [&] { reorder.execute(stream, source, destination); });
    context.call("dnnl_stream_wait", [&] { stream.wait(); });
    return Done{};
  });
}

}  // namespace bench::ops
