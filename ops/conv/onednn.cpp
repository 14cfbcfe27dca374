// SPDX-License-Identifier: Apache-2.0
// Creates oneDNN's convolution or, if transposed, deconvolution. The library chooses all layouts
// except those that `layout` fixes.
#include "ops/conv/conv.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {
namespace {

using dnnl::memory;

struct Convolution {
  static constexpr std::string_view kKind = "convolution";
  static constexpr dnnl::algorithm kAlgorithm = dnnl::algorithm::convolution_direct;
  static constexpr std::string_view kForwardCall = "dnnl_convolution_forward_primitive_desc_create";
  static constexpr std::string_view kBackwardDataCall =
      "dnnl_convolution_backward_data_primitive_desc_create";
  static constexpr std::string_view kBackwardWeightsCall =
      "dnnl_convolution_backward_weights_primitive_desc_create";
  using Forward = dnnl::convolution_forward::primitive_desc;
  using BackwardData = dnnl::convolution_backward_data::primitive_desc;
  using BackwardWeights = dnnl::convolution_backward_weights::primitive_desc;
};

struct Deconvolution {
  static constexpr std::string_view kKind = "deconvolution";
  static constexpr dnnl::algorithm kAlgorithm = dnnl::algorithm::deconvolution_direct;
  static constexpr std::string_view kForwardCall =
      "dnnl_deconvolution_forward_primitive_desc_create";
  static constexpr std::string_view kBackwardDataCall =
      "dnnl_deconvolution_backward_data_primitive_desc_create";
  static constexpr std::string_view kBackwardWeightsCall =
      "dnnl_deconvolution_backward_weights_primitive_desc_create";
  using Forward = dnnl::deconvolution_forward::primitive_desc;
  using BackwardData = dnnl::deconvolution_backward_data::primitive_desc;
  using BackwardWeights = dnnl::deconvolution_backward_weights::primitive_desc;
};

struct Window {
  memory::dims strides, dilations, begin, end;
};

Window make_window(const ConvShape& shape) {
  Window window;
  for (const SpatialAxis& axis : shape.axes) {
    window.strides.push_back(axis.stride);
    window.dilations.push_back(axis.dilation - 1);  // the library counts from 0
    window.begin.push_back(axis.pad.begin);
    // output_pad restores output rows that the padding has cut off.
    window.end.push_back(axis.pad.end - axis.output_pad);
  }
  return window;
}

// Returns a descriptor whose layout the library chooses.
memory::desc free_weights(const Problem& problem, std::string_view name) {
  const Tensor& tensor = tensor_named(problem, name);
  return any_desc(tensor.dims, tensor.dtype);
}

// The same for a bias. Returns a zero descriptor if there is no bias.
memory::desc free_bias(const Problem& problem, std::string_view name) {
  return has_tensor(problem, name) ? free_weights(problem, name) : memory::desc();
}

template <class Kind>
CreatedPrimitive create_forward(OnednnContext& context, const OnednnRequest& request,
                                const Window& window) {
  const Problem& problem = request.problem;
  const auto description =
      take_implementation(context, request, context.call(Kind::kForwardCall, [&] {
        return typename Kind::Forward(
            context.engine(), dnnl::prop_kind::forward_inference, Kind::kAlgorithm,
            free_layout(problem, "source"), free_weights(problem, "weights"),
            free_bias(problem, "bias"), free_layout(problem, "destination"), window.strides,
            window.dilations, window.begin, window.end, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, Kind::kKind);
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("weights", DNNL_ARG_WEIGHTS, description.weights_desc());
  if (has_tensor(problem, "bias")) builder.add("bias", DNNL_ARG_BIAS, description.bias_desc());
  builder.add("destination", DNNL_ARG_DST, description.dst_desc());
  return builder.finish(description);
}

// Returns the description of the forward pass, which oneDNN requires to describe a backward pass.
template <class Kind>
typename Kind::Forward make_forward_hint(const OnednnContext& context, const memory::desc& source,
                                         const memory::desc& weights, const memory::desc& bias,
                                         const memory::desc& destination, const Window& window) {
  return context.call(Kind::kForwardCall, [&] {
    return typename Kind::Forward(context.engine(), dnnl::prop_kind::forward_training,
                                  Kind::kAlgorithm, source, weights, bias, destination,
                                  window.strides, window.dilations, window.begin, window.end);
  });
}

template <class Kind>
CreatedPrimitive create_backward_data(OnednnContext& context, const OnednnRequest& request,
                                      const Window& window) {
  const Problem& problem = request.problem;
  const memory::desc source = free_layout(problem, "diff_source");
  const memory::desc weights = free_weights(problem, "weights");
  const memory::desc destination = free_layout(problem, "diff_destination");
  const auto forward =
      make_forward_hint<Kind>(context, source, weights, memory::desc(), destination, window);
  const auto description =
      take_implementation(context, request, context.call(Kind::kBackwardDataCall, [&] {
        return typename Kind::BackwardData(
            context.engine(), Kind::kAlgorithm, source, weights, destination, window.strides,
            window.dilations, window.begin, window.end, forward, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, Kind::kKind);
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("weights", DNNL_ARG_WEIGHTS, description.weights_desc());
  builder.add("diff_source", DNNL_ARG_DIFF_SRC, description.diff_src_desc());
  return builder.finish(description);
}

template <class Kind>
CreatedPrimitive create_backward_weights(OnednnContext& context, const OnednnRequest& request,
                                         const Window& window) {
  const Problem& problem = request.problem;
  const memory::desc source = free_layout(problem, "source");
  const memory::desc weights = free_weights(problem, "diff_weights");
  const memory::desc bias = free_bias(problem, "diff_bias");
  const memory::desc destination = free_layout(problem, "diff_destination");
  const auto forward = make_forward_hint<Kind>(context, source, weights, bias, destination, window);
  const auto description =
      take_implementation(context, request, context.call(Kind::kBackwardWeightsCall, [&] {
        return typename Kind::BackwardWeights(
            context.engine(), Kind::kAlgorithm, source, weights, bias, destination, window.strides,
            window.dilations, window.begin, window.end, forward, make_attributes(request));
      }));
  PrimitiveBuilder builder(context, request, Kind::kKind);
  builder.add("source", DNNL_ARG_SRC, description.src_desc());
  builder.add("diff_destination", DNNL_ARG_DIFF_DST, description.diff_dst_desc());
  builder.add("diff_weights", DNNL_ARG_DIFF_WEIGHTS, description.diff_weights_desc());
  if (has_tensor(problem, "diff_bias")) {
    builder.add("diff_bias", DNNL_ARG_DIFF_BIAS, description.diff_bias_desc());
  }
  return builder.finish(description);
}

template <class Kind>
CreatedPrimitive create_kind(OnednnContext& context, const OnednnRequest& request,
                             const Window& window) {
  switch (request.problem.direction) {
    case Direction::forward:
      break;
    case Direction::backward_data:
      return create_backward_data<Kind>(context, request, window);
    case Direction::backward_weights:
      return create_backward_weights<Kind>(context, request, window);
  }
  return create_forward<Kind>(context, request, window);
}

CreatedPrimitive create(OnednnContext& context, const OnednnRequest& request) {
  const ConvShape shape = conv_shape(request.problem.parameters);
  const Window window = make_window(shape);
  return shape.sweep == Sweep::transposed ? create_kind<Deconvolution>(context, request, window)
                                          : create_kind<Convolution>(context, request, window);
}

}  // namespace

extern const OnednnKernelEntry conv_onednn_kernel;
const OnednnKernelEntry conv_onednn_kernel = {.op = "conv", .create = create};

}  // namespace bench::ops
