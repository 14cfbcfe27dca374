// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  // The library's group is the distance of slices that become neighbours.
  const auto group = static_cast<int>(shape[axis] / problem.parameters.count("groups"));
  const dnnl::memory::desc layout = plain_or_inherited_layout(context, request);
  const auto forward = context.call("dnnl_shuffle_forward_primitive_desc_create", [&] {
    return dnnl::shuffle_forward::primitive_desc(
        context.engine(), dnnl::prop_kind::forward_training, layout, layout, static_cast<int>(axis),
        group, make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "shuffle");
  if (problem.direction == Direction::forward) {
    builder.add("source", DNNL_ARG_SRC, layout);
    builder.add("destination", DNNL_ARG_DST, layout);
    return builder.finish(take_implementation(context, request, forward));
  }
  const auto backward = take_implementation(
      context, request, context.call("dnnl_shuffle_backward_primitive_desc_create", [&] {
        return dnnl::shuffle_backward::primitive_desc(context.engine(), layout, layout,
                                                      static_cast<int>(axis), group, forward,
                                                      make_attributes(request));
      }));
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, layout);
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, layout);
  return builder.finish(backward);
}

}  // namespace

extern const OnednnKernelEntry shuffle_onednn_kernel;
const OnednnKernelEntry shuffle_onednn_kernel = {.op = "shuffle", .create = create};

}  // namespace bench::ops
