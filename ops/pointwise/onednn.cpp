// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <algorithm>
#include <cassert>

namespace bench::ops {
namespace {

using dnnl::memory;

EltwiseAlgorithm to_eltwise(const Problem& problem) {
  const PointwiseCoefficients coefficients = pointwise_coefficients(problem.parameters);
  const auto eltwise =
      find_eltwise(problem.parameters.word("function"), coefficients.alpha, coefficients.beta);
  assert(eltwise.has_value());
  return *eltwise;
}

dnnl::eltwise_forward::primitive_desc describe_forward(const OnednnContext& context,
                                                       const OnednnRequest& request,
                                                       dnnl::prop_kind propagation,
                                                       const memory::desc& layout) {
  const EltwiseAlgorithm eltwise = to_eltwise(request.problem);
  return context.call("dnnl_eltwise_forward_primitive_desc_create", [&] {
    return dnnl::eltwise_forward::primitive_desc(context.engine(), propagation, eltwise.algorithm,
                                                 layout, layout, eltwise.alpha, eltwise.beta,
                                                 make_attributes(request));
  });
}

CreatedPrimitive create_unary(OnednnContext& context, const OnednnRequest& request) {
  // oneDNN would reject other functions with "invalid arguments", which looks like a bug of bench.
  if (info(request.problem.dtype).is_integer &&
      to_eltwise(request.problem).algorithm != dnnl::algorithm::eltwise_relu) {
    return BackendError{BackendError::Kind::unsupported,
                        "oneDNN's eltwise computes only relu on integers"};
  }
  const auto description = take_implementation(
      context, request,
      describe_forward(context, request, dnnl::prop_kind::forward_inference,
                       inherited_layout(context, request, "source", Nature::shaped)));
  PrimitiveBuilder builder(context, request, "eltwise");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

CreatedPrimitive create_backward(OnednnContext& context, const OnednnRequest& request) {
  const memory::desc layout = inherited_layout(context, request, "source", Nature::shaped);
  const EltwiseAlgorithm eltwise = to_eltwise(request.problem);
  const auto forward =
      describe_forward(context, request, dnnl::prop_kind::forward_training, layout);
  const auto description = take_implementation(
      context, request, context.call("dnnl_eltwise_backward_primitive_desc_create", [&] {
        return dnnl::eltwise_backward::primitive_desc(context.engine(), eltwise.algorithm, layout,
                                                      layout, layout, eltwise.alpha, eltwise.beta,
                                                      forward, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "eltwise");
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, description.diff_src_desc());
  return builder.finish(description);
}

// Adds leading dimensions of 1 up to the rank, because the library requires equal ranks.
Dims extend_to_rank(const Dims& dims, std::size_t rank) {
  Dims result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

// Returns the layout of an operand: the result's layout if the sizes are the same. A broadcast
// operand is plain, because it is small. A network reorders an operand whose producer has another
// layout.
memory::desc choose_operand_layout(const Problem& problem, std::string_view name,
                                   const memory::desc& result) {
  const Tensor& tensor = tensor_named(problem, name);
  const Dims dims = extend_to_rank(tensor.dims, result.get_dims().size());
  return dims == result.get_dims() ? result : plain_desc(dims, tensor.dtype);
}

// Returns the layout that the producer of the first operand with the result's sizes chose. Without
// such an operand, returns inherited_layout().
memory::desc choose_result_layout(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const Tensor& result = tensor_named(problem, "destination");
  for (std::size_t i = 0; i < request.producer_layouts.size() && i < problem.input_count(); ++i) {
    const bool is_usable = problem.layout == Layout::any && !request.producer_layouts[i].is_zero();
    if (is_usable && problem.tensors[i].dims == result.dims) return request.producer_layouts[i];
  }
  return inherited_layout(context, request, "destination", Nature::shaped);
}

CreatedPrimitive create_binary(OnednnContext& context, const OnednnRequest& request) {
  const Problem& problem = request.problem;
  const memory::desc result = choose_result_layout(context, request);
  const auto description =
      take_implementation(context, request, context.call("dnnl_binary_primitive_desc_create", [&] {
        return dnnl::binary::primitive_desc(
            context.engine(), *find_binary(problem.parameters.word("function")),
            choose_operand_layout(problem, "a", result),
            choose_operand_layout(problem, "b", result), result, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, "binary");
  builder.add("a", DNNL_ARG_SRC_0, description.src0_desc());
  builder.add("b", DNNL_ARG_SRC_1, description.src1_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  if (request.problem.direction == Direction::backward_data) {
    return create_backward(context, request);
  }
  return find_binary(request.problem.parameters.word("function")) ? create_binary(context, request)
                                                                  : create_unary(context, request);
}

}  // namespace

extern const OnednnKernelEntry pointwise_onednn_kernel;
const OnednnKernelEntry pointwise_onednn_kernel = {.op = "pointwise", .create = create};

}  // namespace bench::ops
