// SPDX-License-Identifier: Apache-2.0
// oneDNN normalises the last dimension of a tensor with 2 to 5 dimensions. The groups are
// contiguous, so the problem is described with two dimensions: groups and their elements.
#include "ops/layer_norm/layer_norm.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

dnnl::normalization_flags to_flags(const LayerNormShape& shape) {
  dnnl::normalization_flags flags = dnnl::normalization_flags::none;
  if (shape.has_scale) flags |= dnnl::normalization_flags::use_scale;
  if (shape.has_shift) flags |= dnnl::normalization_flags::use_shift;
  return flags;
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (is_in_nhwc(problem)) {
    return unsupported(
        "oneDNN's layer norm is described as groups of plain elements; leave `layout: nhwc` out");
  }
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  const dnnl::memory::desc flat_desc = plain_desc({shape.groups, shape.size}, problem.dtype);
  const auto description =
      context.call("dnnl_layer_normalization_forward_primitive_desc_create", [&] {
        return dnnl::layer_normalization_forward::primitive_desc(
            context.engine(), dnnl::prop_kind::forward_inference, flat_desc, flat_desc,
            static_cast<float>(shape.epsilon), to_flags(shape), make_attributes(request));
      });
  const auto group_desc = [&](std::string_view name) {
    return plain_desc({shape.size}, tensor_named(problem, name).dtype);
  };
  PrimitiveBuilder builder(context, request, "layer_normalization");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  if (shape.has_scale) builder.add("scale", DNNL_ARG_SCALE, group_desc("scale"));
  if (shape.has_shift) builder.add("shift", DNNL_ARG_SHIFT, group_desc("shift"));
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry layer_norm_onednn_kernel;
const OnednnKernelEntry layer_norm_onednn_kernel = {.op = "layer_norm", .create = create};

}  // namespace bench::ops
