// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

struct ConvolutionShapes {
  std::span<const std::int64_t> source, weights, output;
  bool has_bias = false;
};

// Returns nullopt if the shape of the output is unknown.
std::optional<ConvolutionShapes> forward_shapes(const FrameworkCall& call) {
  if (call.output == nullptr) return std::nullopt;
  return ConvolutionShapes{tensor_shape(call, 0), tensor_shape(call, 1), *call.output,
                           !tensor_shape(call, 2).empty()};
}

// Returns a convolution with the same output, kernel and channels, but stride 1 and no padding. It
// has the same FLOPs, because they depend only on these sizes.
std::optional<Equivalent> make_dense_convolution(const ConvolutionShapes& shapes) {
  const auto& [source, weights, output, has_bias] = shapes;
  if (!is_image(source) || weights.size() != source.size()) return std::nullopt;
  const bool fits = output.size() == source.size() && output[0] == source[0] &&
                    output[1] == weights[0] && weights[1] > 0 && source[1] % weights[1] == 0;
  if (!fits) return std::nullopt;
  ParameterSet set = default_parameters("conv");
  set.set("n", source[0]);
  set.set("c", source[1]);
  set.set("k", weights[0]);
  set.set("g", source[1] / weights[1]);
  set.set("bias", has_bias);
  Dims sizes;
  for (std::size_t i = kFirstSpatial; i < source.size(); ++i) {
    const auto size = (Checked(output[i]) + weights[i] - 1).value();
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  set_spatial_sizes(set, kSpatialSizeNames, sizes);
  set_spatial_sizes(set, kKernelSizeNames, weights.subspan(kFirstSpatial));
  return with_other_tensors(equivalent("conv", std::move(set)));
}

std::optional<Equivalent> make_convolution(const FrameworkCall& call, const FrameworkRow&) {
  const auto shapes = forward_shapes(call);
  return shapes ? make_dense_convolution(*shapes) : std::nullopt;
}

// NVTX ranges do not state whether a convolution is transposed. Returns whether the channels leave
// this open, and the FLOPs depend on it: they are proportional to the elements of the output, or to
// those of the source of a transposed convolution.
bool is_work_open(const ConvolutionShapes& shapes) {
  const auto& [source, weights, output, has_bias] = shapes;
  if (output.size() < 2 || source.size() < 2 || weights.size() < 2 || weights[1] == 0) return true;
  if (element_count(source) == element_count(output)) return false;
  return weights[0] == source[1] && output[1] % weights[1] == 0;
}

std::optional<Equivalent> make_any_convolution(const FrameworkCall& call, const FrameworkRow&) {
  const auto shapes = forward_shapes(call);
  return !shapes || is_work_open(*shapes) ? std::nullopt : make_dense_convolution(*shapes);
}

// Reads the shapes of the call: (gradient of the output, input, weight, ...). The gradients of
// input and weight take as many products as the forward pass without bias. The gradient of the bias
// is a sum.
std::optional<Equivalent> make_convolution_gradients(const FrameworkCall& call,
                                                     const FrameworkRow&) {
  const ConvolutionShapes shapes{tensor_shape(call, 1), tensor_shape(call, 2),
                                 tensor_shape(call, 0)};
  if (is_work_open(shapes)) return std::nullopt;
  auto gradient = make_dense_convolution(shapes);
  if (gradient) gradient->extent = GpuOperatorWork::Extent::each_gradient;
  return gradient;
}

// Counts one product per input element, output channel of its group, and kernel element. The number
// of groups is not needed, because weights[1] is the number of output channels per group.
std::optional<Equivalent> make_transposed_convolution(const FrameworkCall& call,
                                                      const FrameworkRow&) {
  const auto source = tensor_shape(call, 0);
  const auto weights = tensor_shape(call, 1);
  const bool has_bias = !tensor_shape(call, 2).empty();
  const bool fits = is_image(source) && weights.size() == source.size() && weights[0] == source[1];
  if (!fits || (has_bias && call.output == nullptr)) return std::nullopt;
  ParameterSet set = default_parameters("conv");
  set.set("n", source[0]);
  set.set("c", source[1]);
  set.set("k", weights[1]);
  set.set("transposed", true);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  set_spatial_sizes(set, kKernelSizeNames, weights.subspan(kFirstSpatial));
  auto result = with_other_tensors(equivalent("conv", std::move(set)));
  if (!has_bias) return result;
  const auto outputs = element_count(*call.output);
  if (!outputs) return std::nullopt;
  result->more_flops = *outputs;
  return result;
}

// Reads the arguments of the call: (input, weight, bias, stride, padding, dilation, groups).
std::optional<ProblemRequest> request_convolution(const Arguments& arguments,
                                                  const FrameworkRow& row) {
  const std::size_t rank = row.spatial_rank;
  const auto source = image_argument(arguments, rank);
  const FrameworkArgument* weights = find_argument(arguments, "weight", 1);
  const auto stride = argument_numbers(arguments, "stride", 3, rank, Numbers(rank, 1));
  const auto pad = argument_numbers(arguments, "padding", 4, rank, Numbers(rank, 0));
  const auto dilation = argument_numbers(arguments, "dilation", 5, rank, Numbers(rank, 1));
  const auto groups = argument_numbers(arguments, "groups", 6, 1, {1});
  if (source.empty() || weights == nullptr || weights->shape.size() != source.size() || !stride ||
      !pad || !dilation || !groups) {
    return std::nullopt;
  }
  const Numbers& kernel = weights->shape;
  const std::int64_t per_group = kernel[1];
  if (per_group < 1 || groups->front() < 1 || source[1] % groups->front() != 0 ||
      source[1] / groups->front() != per_group) {
    return std::nullopt;
  }
  ParameterSet set = image_parameters("conv", source);
  set.set("k", kernel[0]);
  set.set("g", groups->front());
  set_spatial_sizes(set, kKernelSizeNames, std::span(kernel).subspan(kFirstSpatial));
  set.set("stride", *stride);
  set.set("pad", to_pad_pairs(*pad));
  set.set("dilation", *dilation);
  const FrameworkArgument* bias = find_argument(arguments, "bias", 2);
  set.set("bias", !is_none(bias) && !bias->shape.empty());
  return make_request("conv", std::move(set));
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"conv1d", make_convolution, request_convolution, {}, 1},
    FrameworkRow{"conv2d", make_convolution, request_convolution, {}, 2},
    FrameworkRow{"conv3d", make_convolution, request_convolution, {}, 3},
    FrameworkRow{"cudnn_convolution", make_convolution},
    FrameworkRow{"mkldnn_convolution", make_convolution},
    FrameworkRow{"convolution", make_any_convolution},
    FrameworkRow{"_convolution", make_any_convolution},
    FrameworkRow{"convolution_backward", make_convolution_gradients},
    FrameworkRow{"conv_transpose1d", make_transposed_convolution},
    FrameworkRow{"conv_transpose2d", make_transposed_convolution},
    FrameworkRow{"conv_transpose3d", make_transposed_convolution},
};

}  // namespace

extern const FrameworkMapping conv_framework;
const FrameworkMapping conv_framework = {.op = "conv", .rows = kFrameworkRows};

}  // namespace bench::ops
