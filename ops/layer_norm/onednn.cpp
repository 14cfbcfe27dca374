// SPDX-License-Identifier: Apache-2.0
// oneDNN normalises the last dimension of a tensor with 2 to 5 dimensions. The groups are
// contiguous, so the problem is described with two dimensions: groups and their elements.
#include "ops/description.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <utility>

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (problem.layout == Layout::nhwc && is_spatial(problem.tensors[0].dims)) {
    return unsupported(
        "oneDNN's layer norm is described as groups of plain elements; leave `layout: nhwc` out");
  }
  const std::int64_t size = quantity(problem, "size");
  const auto flat_desc = plain_desc({quantity(problem, "groups"), size}, problem.dtype);
  dnnl::normalization_flags flags = dnnl::normalization_flags::none;
  if (problem.parameters.flag("scale")) flags |= dnnl::normalization_flags::use_scale;
  if (problem.parameters.flag("shift")) flags |= dnnl::normalization_flags::use_shift;
  const auto description =
      context.call("dnnl_layer_normalization_forward_primitive_desc_create", [&] {
        return dnnl::layer_normalization_forward::primitive_desc(
            context.engine(), dnnl::prop_kind::forward_inference, flat_desc, flat_desc,
            static_cast<float>(problem.parameters.real("epsilon")), flags,
            make_attributes(request));
      });
  PrimitiveBuilder builder(context, request, "layer_normalization");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  for (const auto& [name, argument] :
       {std::pair("scale", DNNL_ARG_SCALE), std::pair("shift", DNNL_ARG_SHIFT)}) {
    if (!has_tensor(problem, name)) continue;
    builder.add(name, argument, plain_desc({size}, tensor_named(problem, name).dtype));
  }
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry layer_norm_onednn_kernel;
const OnednnKernelEntry layer_norm_onednn_kernel = {.op = "layer_norm", .create = create};

}  // namespace bench::ops
