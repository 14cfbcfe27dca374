// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <string_view>

namespace bench::ops {
namespace {

dnnl::normalization_flags batch_norm_flags(const Problem& problem) {
  dnnl::normalization_flags flags = dnnl::normalization_flags::none;
  if (!is_in_training(problem)) flags |= dnnl::normalization_flags::use_global_stats;
  if (problem.parameters.flag("scale")) flags |= dnnl::normalization_flags::use_scale;
  // The gradient of the source alone does not depend on the shift.
  if (problem.parameters.flag("shift") && problem.direction != Direction::backward_data) {
    flags |= dnnl::normalization_flags::use_shift;
  }
  return flags;
}

// The layout of all images. The first tensor is one in every direction.
dnnl::memory::desc image_layout(OnednnContext& context, const OnednnRequest& request) {
  return inherited_layout(context, request, request.problem.tensors.front().name, Nature::spatial);
}

dnnl::batch_normalization_forward::primitive_desc describe_forward(OnednnContext& context,
                                                                   const OnednnRequest& request,
                                                                   dnnl::prop_kind propagation) {
  const dnnl::memory::desc layout = image_layout(context, request);
  return context.call("dnnl_batch_normalization_forward_primitive_desc_create", [&] {
    return dnnl::batch_normalization_forward::primitive_desc(
        context.engine(), propagation, layout, layout,
        static_cast<float>(request.problem.parameters.real("epsilon")),
        batch_norm_flags(request.problem), make_attributes(request));
  });
}

dnnl::batch_normalization_backward::primitive_desc describe_backward(OnednnContext& context,
                                                                     const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const auto forward = describe_forward(context, request, dnnl::prop_kind::forward_training);
  return context.call("dnnl_batch_normalization_backward_primitive_desc_create", [&] {
    return dnnl::batch_normalization_backward::primitive_desc(
        context.engine(),
        problem.direction == Direction::backward_data ? dnnl::prop_kind::backward_data
                                                      : dnnl::prop_kind::backward,
        forward.dst_desc(), forward.dst_desc(), forward.src_desc(),
        static_cast<float>(problem.parameters.real("epsilon")), batch_norm_flags(problem), forward,
        make_attributes(request));
  });
}

struct BatchNormArgument {
  std::string_view name;
  int number;
};
// The images, and the tensors with one value per channel. A problem has some of them.
constexpr BatchNormArgument kImages[] = {{"source", DNNL_ARG_SRC},
                                         {"destination", DNNL_ARG_DST},
                                         {"diff_destination", DNNL_ARG_DIFF_DST},
                                         {"diff_source", DNNL_ARG_DIFF_SRC}};
constexpr BatchNormArgument kChannels[] = {{"mean", DNNL_ARG_MEAN},
                                           {"variance", DNNL_ARG_VARIANCE},
                                           {"scale", DNNL_ARG_SCALE},
                                           {"shift", DNNL_ARG_SHIFT},
                                           {"diff_scale", DNNL_ARG_DIFF_SCALE},
                                           {"diff_shift", DNNL_ARG_DIFF_SHIFT}};

// Adds what the library demands and the problem does not have. With given statistics these are
// source and mean of a gradient, which does not depend on them: tensors of the same sizes take
// their places. Without the gradient of the scale, it is memory for that gradient.
void add_demanded(PrimitiveBuilder& builder, const Problem& problem) {
  if (!has_tensor(problem, "source")) builder.add_demanded("diff_destination", DNNL_ARG_SRC);
  if (!has_tensor(problem, "mean")) builder.add_demanded("variance", DNNL_ARG_MEAN);
  if (!has_tensor(problem, "scale") || has_tensor(problem, "diff_scale")) return;
  const Tensor& scale = tensor_named(problem, "scale");
  builder.add_discarded(DNNL_ARG_DIFF_SCALE, plain_desc(scale.dims, scale.dtype));
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  PrimitiveBuilder builder(context, request, "batch_normalization");
  const auto add_all = [&](const dnnl::memory::desc& images) {
    for (const auto& [name, number] : kImages) {
      if (has_tensor(problem, name)) builder.add(name, number, images);
    }
    for (const auto& [name, number] : kChannels) {
      if (!has_tensor(problem, name)) continue;
      const Tensor& tensor = tensor_named(problem, name);
      builder.add(name, number, plain_desc(tensor.dims, tensor.dtype));
    }
  };
  if (problem.direction == Direction::forward) {
    const auto description = take_implementation(
        context, request,
        describe_forward(context, request,
                         is_in_training(problem) ? dnnl::prop_kind::forward_training
                                                 : dnnl::prop_kind::forward_inference));
    add_all(description.dst_desc());
    return builder.finish(description);
  }
  const auto description =
      take_implementation(context, request, describe_backward(context, request));
  add_all(description.diff_src_desc());
  add_demanded(builder, problem);
  return builder.finish(description);
}

}  // namespace

extern const OnednnKernelEntry batch_norm_onednn_kernel;
const OnednnKernelEntry batch_norm_onednn_kernel = {.op = "batch_norm", .create = create};

}  // namespace bench::ops
