// SPDX-License-Identifier: Apache-2.0
// oneDNN normalises the last dimension of a tensor with 2 to 5 dimensions. The groups are
// contiguous, so the problem is described with two dimensions: groups and their elements.
#include "ops/description.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace bench::ops {
namespace {

dnnl::normalization_flags make_flags(const Problem& problem) {
  dnnl::normalization_flags flags = dnnl::normalization_flags::none;
  // The gradient of the source alone does not depend on the shift, and cannot have a scale.
  if (problem.direction == Direction::backward_data) return flags;
  if (problem.parameters.flag("scale")) flags |= dnnl::normalization_flags::use_scale;
  if (problem.parameters.flag("shift")) flags |= dnnl::normalization_flags::use_shift;
  return flags;
}

dnnl::layer_normalization_forward::primitive_desc describe_forward(OnednnContext& context,
                                                                   const OnednnRequest& request,
                                                                   dnnl::prop_kind propagation) {
  const Problem& problem = request.problem;
  const auto flat_desc =
      plain_desc({quantity(problem, "groups"), quantity(problem, "size")}, problem.dtype);
  return context.call("dnnl_layer_normalization_forward_primitive_desc_create", [&] {
    return dnnl::layer_normalization_forward::primitive_desc(
        context.engine(), propagation, flat_desc, flat_desc,
        static_cast<float>(problem.parameters.real("epsilon")), make_flags(problem),
        make_attributes(request));
  });
}

dnnl::layer_normalization_backward::primitive_desc describe_backward(OnednnContext& context,
                                                                     const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const auto forward = describe_forward(context, request, dnnl::prop_kind::forward_training);
  return context.call("dnnl_layer_normalization_backward_primitive_desc_create", [&] {
    return dnnl::layer_normalization_backward::primitive_desc(
        context.engine(),
        problem.direction == Direction::backward_data ? dnnl::prop_kind::backward_data
                                                      : dnnl::prop_kind::backward,
        forward.dst_desc(), forward.dst_desc(), forward.src_desc(),
        static_cast<float>(problem.parameters.real("epsilon")), make_flags(problem), forward,
        make_attributes(request));
  });
}

struct Argument {
  std::string_view name;
  int number;
};
// The tensors in groups and elements, those with one value per group, and those with one per
// element of a group. A problem has some of them.
constexpr Argument kWhole[] = {{"source", DNNL_ARG_SRC},
                               {"destination", DNNL_ARG_DST},
                               {"diff_destination", DNNL_ARG_DIFF_DST},
                               {"diff_source", DNNL_ARG_DIFF_SRC}};
constexpr Argument kStatistics[] = {{"mean", DNNL_ARG_MEAN}, {"variance", DNNL_ARG_VARIANCE}};
constexpr Argument kCoefficients[] = {{"scale", DNNL_ARG_SCALE},
                                      {"shift", DNNL_ARG_SHIFT},
                                      {"diff_scale", DNNL_ARG_DIFF_SCALE},
                                      {"diff_shift", DNNL_ARG_DIFF_SHIFT}};

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  if (problem.layout == Layout::nhwc && is_spatial(problem.tensors[0].dims)) {
    return unsupported(
        "oneDNN's layer norm is described as groups of plain elements; leave `layout: nhwc` out");
  }
  if (problem.direction == Direction::backward_data && problem.parameters.flag("scale")) {
    return unsupported(
        "oneDNN 3.2 computes the gradient of a source that is scaled only together with that of "
        "the "
        "scale; use `direction: backward_weights`, `scale: false` or `backend: native`");
  }
  const std::int64_t groups = quantity(problem, "groups"), size = quantity(problem, "size");
  PrimitiveBuilder builder(context, request, "layer_normalization");
  const auto add = [&](std::span<const Argument> arguments, const Dims& dims) {
    for (const Argument& argument : arguments) {
      if (!has_tensor(problem, argument.name)) continue;
      const DataType dtype = tensor_named(problem, argument.name).dtype;
      builder.add(argument.name, argument.number, plain_desc(dims, dtype));
    }
  };
  add(kWhole, {groups, size});
  add(kStatistics, {groups});
  add(kCoefficients, {size});
  if (has_tensor(problem, "diff_shift")) builder.add_demanded("diff_shift", DNNL_ARG_SHIFT);
  if (problem.direction != Direction::forward) {
    return builder.finish(
        take_implementation(context, request, describe_backward(context, request)));
  }
  const bool is_training = problem.parameters.word("mode") == "training";
  return builder.finish(
      take_implementation(context, request,
                          describe_forward(context, request,
                                           is_training ? dnnl::prop_kind::forward_training
                                                       : dnnl::prop_kind::forward_inference)));
}

}  // namespace

extern const OnednnKernelEntry layer_norm_onednn_kernel;
const OnednnKernelEntry layer_norm_onednn_kernel = {.op = "layer_norm", .create = create};

}  // namespace bench::ops
