// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/forms.hpp"

#include "ops/conv/conv.hpp"

#include <utility>

namespace bench::ops::cuda {
namespace {

// Sizes of the plain convolution of a shape. A transposed convolution is its data gradient.
struct PlainSizes {
  std::int64_t x_channels, y_channels;
  std::vector<std::int64_t> x_sizes, y_sizes, kernel;
};

PlainSizes plain_sizes(const ConvShape& shape) {
  const bool is_transposed = shape.sweep == Sweep::transposed;
  PlainSizes sizes;
  sizes.x_channels = is_transposed ? shape.k : shape.c;
  sizes.y_channels = is_transposed ? shape.c : shape.k;
  if (shape.axes.size() == 1) {
    sizes.x_sizes = sizes.y_sizes = sizes.kernel = {1};
  }
  for (const SpatialAxis& axis : shape.axes) {
    sizes.x_sizes.push_back(is_transposed ? axis.output : axis.input);
    sizes.y_sizes.push_back(is_transposed ? axis.input : axis.output);
    sizes.kernel.push_back(axis.kernel);
  }
  return sizes;
}

std::vector<std::int64_t> make_dims(std::int64_t first, std::int64_t second,
                                    std::span<const std::int64_t> spatial_dims) {
  std::vector<std::int64_t> dims = {first, second};
  dims.insert(dims.end(), spatial_dims.begin(), spatial_dims.end());
  return dims;
}

ConvKind to_conv_kind(Direction direction, Sweep sweep) {
  const bool is_transposed = sweep == Sweep::transposed;
  switch (direction) {
    case Direction::forward:
      return is_transposed ? ConvKind::data : ConvKind::forward;
    case Direction::backward_data:
      return is_transposed ? ConvKind::forward : ConvKind::data;
    case Direction::backward_weights:
      break;
  }
  return ConvKind::weights;
}

// Indexes of source, weights and destination (or their gradients) in a problem's tensors.
struct ConvTensors {
  std::size_t source, weights, destination;
};

ConvTensors find_conv_tensors(const Problem& problem) {
  switch (problem.direction) {
    case Direction::forward:
      return {0, 1, problem.tensors.size() - 1};
    case Direction::backward_data:
      return {2, 1, 0};
    case Direction::backward_weights:
      break;
  }
  return {0, 2, 1};
}

void add_axes(const ConvShape& shape, ConvForm& form) {
  if (shape.axes.size() == 1) {
    form.stride = form.dilation = {1};
    form.pad_before = form.pad_after = {0};
  }
  for (const SpatialAxis& axis : shape.axes) {
    form.stride.push_back(axis.stride);
    form.dilation.push_back(axis.dilation);
    form.pad_before.push_back(axis.pad.begin);
    form.pad_after.push_back(axis.pad.end);
  }
}

}  // namespace

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims, Layout layout) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  std::int64_t step = 1;
  const bool channels_innermost = layout == Layout::nhwc && dims.size() > 2;
  if (channels_innermost) step = dims[1];
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (channels_innermost && i == 1) continue;
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

TensorForm tensor_form(const Problem& problem, std::size_t tensor, std::vector<std::int64_t> dims,
                       Layout layout) {
  const Tensor& problem_tensor = problem.tensors[tensor];
  TensorForm form{problem_tensor.name,
                  static_cast<std::int64_t>(tensor) + 1,
                  problem_tensor.dtype,
                  std::move(dims),
                  {}};
  form.strides = dense_strides(form.dims, layout);
  return form;
}

Result<ConvForm, BackendError> conv_form(const Problem& problem) {
  const ConvShape shape = conv_shape(problem.parameters);
  if (problem.direction == Direction::backward_weights && shape.bias == Bias::present) {
    return BackendError{
        BackendError::Kind::unsupported,
        "cuDNN's convolution does not compute the gradient of the bias; leave `bias` out"};
  }
  const Layout layout = chosen_layout(problem);
  const PlainSizes sizes = plain_sizes(shape);
  const ConvTensors tensors = find_conv_tensors(problem);
  const bool is_transposed = shape.sweep == Sweep::transposed;
  ConvForm form;
  form.kind = to_conv_kind(problem.direction, shape.sweep);
  form.x = tensor_form(problem, is_transposed ? tensors.destination : tensors.source,
                       make_dims(shape.n, sizes.x_channels, sizes.x_sizes), layout);
  form.w = tensor_form(problem, tensors.weights,
                       make_dims(sizes.y_channels, sizes.x_channels / shape.groups, sizes.kernel),
                       layout);
  form.y = tensor_form(problem, is_transposed ? tensors.source : tensors.destination,
                       make_dims(shape.n, sizes.y_channels, sizes.y_sizes), layout);
  add_axes(shape, form);
  return form;
}

}  // namespace bench::ops::cuda
