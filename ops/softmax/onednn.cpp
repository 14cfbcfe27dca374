// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/softmax/softmax.hpp"

namespace bench::ops {
namespace {

dnnl::softmax_forward::primitive_desc describe_forward(OnednnContext& context,
                                                       const OnednnRequest& request,
                                                       const dnnl::memory::desc& layout) {
  const ParameterSet& set = request.problem.parameters;
  const bool is_forward = request.problem.direction == Direction::forward;
  return context.call("dnnl_softmax_forward_primitive_desc_create", [&] {
    return dnnl::softmax_forward::primitive_desc(
        context.engine(),
        is_forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
        set.flag("log") ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate, layout,
        layout, static_cast<int>(set.count("axis")), make_attributes(request));
  });
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const dnnl::memory::desc layout = plain_or_inherited_layout(context, request);
  const auto forward = describe_forward(context, request, layout);
  PrimitiveBuilder builder(context, request, "softmax");
  if (request.problem.direction == Direction::forward) {
    const auto description = take_implementation(context, request, forward);
    builder.add("source", DNNL_ARG_SRC, description.src_desc());
    builder.add("destination", DNNL_ARG_DST, description.dst_desc());
    return builder.finish(description);
  }
  const ParameterSet& set = request.problem.parameters;
  const auto backward = take_implementation(
      context, request, context.call("dnnl_softmax_backward_primitive_desc_create", [&] {
        return dnnl::softmax_backward::primitive_desc(
            context.engine(),
            set.flag("log") ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate,
            layout, layout, layout, static_cast<int>(set.count("axis")), forward,
            make_attributes(request));
      }));
  builder.add("destination", DNNL_ARG_DST, backward.dst_desc());
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, backward.diff_dst_desc());
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, backward.diff_src_desc());
  return builder.finish(backward);
}

}  // namespace

extern const OnednnKernelEntry softmax_onednn_kernel;
const OnednnKernelEntry softmax_onednn_kernel = {.op = "softmax", .create = create};

}  // namespace bench::ops
