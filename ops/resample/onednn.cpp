// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const bool is_forward = problem.direction == Direction::forward;
  const auto algorithm = problem.parameters.word("function") == "linear"
                             ? dnnl::algorithm::resampling_linear
                             : dnnl::algorithm::resampling_nearest;
  const auto source =
      inherited_layout(context, request, is_forward ? "source" : "diff_source", Nature::spatial);
  const auto destination = free_layout(problem, is_forward ? "destination" : "diff_destination");
  const auto forward = context.call("dnnl_resampling_forward_primitive_desc_create", [&] {
    return dnnl::resampling_forward::primitive_desc(
        context.engine(),
        is_forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
        algorithm, source, destination, make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "resampling");
  if (is_forward) {
    const auto description = take_implementation(context, request, forward);
    builder.add("source", DNNL_ARG_SRC, description.src_desc());
    builder.add("destination", DNNL_ARG_DST, description.dst_desc());
    return builder.finish(description);
  }
  const auto description = take_implementation(
      context, request, context.call("dnnl_resampling_backward_primitive_desc_create", [&] {
        return dnnl::resampling_backward::primitive_desc(context.engine(), algorithm, source,
                                                         forward.dst_desc(), forward,
                                                         make_attributes(request));
      }));
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, description.diff_src_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry resample_onednn_kernel;
const OnednnKernelEntry resample_onednn_kernel = {.op = "resample", .create = create};

}  // namespace bench::ops
