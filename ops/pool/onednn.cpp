// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/pool/pool.hpp"

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

using dnnl::memory;

struct AlgorithmRow {
  std::string_view function;
  dnnl::algorithm algorithm;
};

constexpr std::array<AlgorithmRow, 3> kOnednnAlgorithms = {{
    {kPoolMax, dnnl::algorithm::pooling_max},
    {kPoolIncludePad, dnnl::algorithm::pooling_avg_include_padding},
    {kPoolExcludePad, dnnl::algorithm::pooling_avg_exclude_padding},
}};

struct Pooling {
  dnnl::algorithm algorithm;
  memory::dims strides, window, dilations, begin, end;
};

Pooling to_pooling(const Problem& problem) {
  const std::string& function = problem.parameters.word("function");
  Pooling pooling{
      std::ranges::find(kOnednnAlgorithms, function, &AlgorithmRow::function)->algorithm,
      {},
      {},
      {},
      {},
      {}};
  for (const SpatialAxis& axis : pool_axes(problem.parameters)) {
    pooling.strides.push_back(axis.stride);
    pooling.window.push_back(axis.kernel);
    pooling.dilations.push_back(0);  // dense
    pooling.begin.push_back(axis.pad.begin);
    pooling.end.push_back(axis.pad.end);
  }
  return pooling;
}

dnnl::pooling_forward::primitive_desc describe_forward(const OnednnContext& context,
                                                       const Pooling& pooling,
                                                       dnnl::prop_kind propagation,
                                                       const memory::desc& source,
                                                       const memory::desc& destination,
                                                       const dnnl::primitive_attr& attributes) {
  return context.call("dnnl_pooling_forward_primitive_desc_create", [&] {
    return dnnl::pooling_forward::primitive_desc(
        context.engine(), propagation, pooling.algorithm, source, destination, pooling.strides,
        pooling.window, pooling.dilations, pooling.begin, pooling.end, attributes);
  });
}

CreatedPrimitive create_forward(OnednnContext& context, const OnednnRequest& request) {
  const auto propagation = request.workspace == ForwardWorkspace::kept
                               ? dnnl::prop_kind::forward_training
                               : dnnl::prop_kind::forward_inference;
  const auto description = take_implementation(
      context, request,
      describe_forward(context, to_pooling(request.problem), propagation,
                       inherited_layout(context, request, "source", Nature::spatial),
                       free_layout(request.problem, "destination"), make_attributes(request)));
  PrimitiveBuilder builder(context, request, "pooling");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

CreatedPrimitive create_backward(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const Pooling pooling = to_pooling(problem);
  const memory::desc source = inherited_layout(context, request, "diff_source", Nature::spatial);
  const auto forward =
      describe_forward(context, pooling, dnnl::prop_kind::forward_training, source,
                       free_layout(problem, "diff_destination"), make_attributes(request));
  const auto description = take_implementation(
      context, request, context.call("dnnl_pooling_backward_primitive_desc_create", [&] {
        return dnnl::pooling_backward::primitive_desc(
            context.engine(), pooling.algorithm, source, forward.dst_desc(), pooling.strides,
            pooling.window, pooling.dilations, pooling.begin, pooling.end, forward,
            make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "pooling");
  if (has_tensor(problem, "source")) builder.add_unused("source", forward.src_desc());
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, description.diff_src_desc());
  auto result = builder.finish(description);
  if (has_tensor(problem, "source")) {
    result->preparation =
        OnednnPreparation{.primitive = context.create(forward),
                          .inputs = {{tensor_index(problem, "source"), DNNL_ARG_SRC}},
                          .output = forward.dst_desc(),
                          .scratchpad = forward.scratchpad_desc()};
  }
  return result;
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  return request.problem.direction == Direction::forward ? create_forward(context, request)
                                                         : create_backward(context, request);
}

}  // namespace

extern const OnednnKernelEntry pool_onednn_kernel;
const OnednnKernelEntry pool_onednn_kernel = {.op = "pool", .create = create};

}  // namespace bench::ops
