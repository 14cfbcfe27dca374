// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

// Returns the sizes of the slopes with as many dimensions as the source.
Dims slope_dims(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  const std::string& slopes = problem.parameters.word("slopes");
  if (slopes == "all") return shape;
  Dims dims(shape.size(), 1);
  if (slopes == "channel") dims[1] = shape[1];
  return dims;
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const bool is_forward = problem.direction == Direction::forward;
  const dnnl::memory::desc source = plain_or_inherited_layout(context, request);
  const dnnl::memory::desc weights = plain_desc(slope_dims(problem), problem.dtype);
  const auto propagation =
      is_forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const auto forward = context.call("dnnl_prelu_forward_primitive_desc_create", [&] {
    return dnnl::prelu_forward::primitive_desc(context.engine(), propagation, source, weights,
                                               source, make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "prelu");
  builder.add("source", DNNL_ARG_SRC, source);
  builder.add("weights", DNNL_ARG_WEIGHTS, weights);
  if (is_forward) {
    builder.add("destination", DNNL_ARG_DST, source);
    return builder.finish(take_implementation(context, request, forward));
  }
  const auto backward = take_implementation(
      context, request, context.call("dnnl_prelu_backward_primitive_desc_create", [&] {
        return dnnl::prelu_backward::primitive_desc(context.engine(), source, weights, source,
                                                    weights, source, forward,
                                                    make_attributes(request));
      }));
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, source);
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, source);
  builder.add("diff_weights", DNNL_ARG_DIFF_WEIGHTS, weights);
  return builder.finish(backward);
}

}  // namespace

extern const OnednnKernelEntry prelu_onednn_kernel;
const OnednnKernelEntry prelu_onednn_kernel = {.op = "prelu", .create = create};

}  // namespace bench::ops
