// SPDX-License-Identifier: Apache-2.0
// The gradient reads what a forward pass left in its workspace, which a preparation fills.
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

struct Settings {
  dnnl::algorithm algorithm;
  std::int64_t size;
  float alpha, beta, k;
};

Settings to_settings(const ParameterSet& set) {
  return {.algorithm = set.word("function") == "within_channel"
                           ? dnnl::algorithm::lrn_within_channel
                           : dnnl::algorithm::lrn_across_channels,
          .size = set.count("size"),
          .alpha = static_cast<float>(set.real("alpha")),
          .beta = static_cast<float>(set.real("beta")),
          .k = static_cast<float>(set.real("k"))};
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const bool is_forward = problem.direction == Direction::forward;
  const Settings settings = to_settings(problem.parameters);
  const bool keeps = !is_forward || request.workspace == ForwardWorkspace::kept;
  const auto layout = inherited_layout(context, request, "source", Nature::spatial);
  const auto forward = context.call("dnnl_lrn_forward_primitive_desc_create", [&] {
    return dnnl::lrn_forward::primitive_desc(
        context.engine(),
        keeps ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
        settings.algorithm, layout, layout, settings.size, settings.alpha, settings.beta,
        settings.k, make_attributes(request));
  });
  PrimitiveBuilder builder(context, request, "lrn");
  builder.add("source", DNNL_ARG_SRC, layout);
  if (is_forward) {
    builder.add("destination", DNNL_ARG_DST, layout);
    return builder.finish(take_implementation(context, request, forward));
  }
  const auto backward = take_implementation(
      context, request, context.call("dnnl_lrn_backward_primitive_desc_create", [&] {
        return dnnl::lrn_backward::primitive_desc(
            context.engine(), settings.algorithm, layout, layout, layout, settings.size,
            settings.alpha, settings.beta, settings.k, forward, make_attributes(request));
      }));
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, layout);
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, layout);
  auto result = builder.finish(backward);
  if (result->workspace.get_size() > 0) {
    result->preparation =
        OnednnPreparation{.primitive = context.create(forward),
                          .inputs = {{tensor_index(problem, "source"), DNNL_ARG_SRC}},
                          .output = forward.dst_desc(),
                          .scratchpad = forward.scratchpad_desc()};
  }
  return result;
}

}  // namespace

extern const OnednnKernelEntry lrn_onednn_kernel;
const OnednnKernelEntry lrn_onednn_kernel = {.op = "lrn", .create = create};

}  // namespace bench::ops
