// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/softmax/softmax.hpp"

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const Tensor& source = tensor_named(problem, "source");
  // Without a producer the layout is plain for every rank, as for attention scores and class
  // scores.
  const bool has_producer =
      !request.producer_layouts.empty() && !request.producer_layouts.front().is_zero();
  const dnnl::memory::desc layout =
      problem.layout == Layout::any && !has_producer
          ? plain_desc(source.dims, source.dtype)
          : inherited_layout(context, request, "source", Nature::shaped);
  const auto description = context.call("dnnl_softmax_forward_primitive_desc_create", [&] {
    return dnnl::softmax_forward::primitive_desc(
        context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
        layout, layout, static_cast<int>(problem.parameters.count("axis")),
        make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "softmax");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry softmax_onednn_kernel;
const OnednnKernelEntry softmax_onednn_kernel = {.op = "softmax", .create = create};

}  // namespace bench::ops
