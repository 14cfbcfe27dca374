// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const dnnl::memory::desc layout = inherited_layout(context, request, "source", Nature::spatial);
  const auto description =
      context.call("dnnl_batch_normalization_forward_primitive_desc_create", [&] {
        return dnnl::batch_normalization_forward::primitive_desc(
            context.engine(), dnnl::prop_kind::forward_inference, layout, layout,
            static_cast<float>(request.problem.parameters.real("epsilon")),
            dnnl::normalization_flags::use_global_stats | dnnl::normalization_flags::use_scale |
                dnnl::normalization_flags::use_shift,
            make_attributes(request));
      });
  const auto channels = [&](std::string_view name) {
    const Tensor& tensor = tensor_named(request.problem, name);
    return plain_desc(tensor.dims, tensor.dtype);
  };
  PrimitiveBuilder builder(context, request, "batch_normalization");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("mean", DNNL_ARG_MEAN, channels("mean"));
  builder.add("variance", DNNL_ARG_VARIANCE, channels("variance"));
  builder.add("scale", DNNL_ARG_SCALE, channels("scale"));
  builder.add("shift", DNNL_ARG_SHIFT, channels("shift"));
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry batch_norm_onednn_kernel;
const OnednnKernelEntry batch_norm_onednn_kernel = {.op = "batch_norm", .create = create};

}  // namespace bench::ops
