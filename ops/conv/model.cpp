// SPDX-License-Identifier: Apache-2.0
// Tensors and work of a convolution, convention bench-1 (docs/work_model.md).
#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/conv/formulas.hpp"
#include "ops/data_types.hpp"
#include "ops/tensor.hpp"

#include <string>

namespace bench::ops {
namespace {

// Selects which of an axis' sizes a tensor has.
using AxisSize = std::int64_t SpatialAxis::*;

std::vector<Extent> with_axes(std::vector<Extent> extents, const ConvShape& shape, AxisSize size) {
  for (const SpatialAxis& axis : shape.axes) extents.push_back({axis.name, axis.*size});
  return extents;
}

std::vector<Extent> source_extents(const ConvShape& shape) {
  return with_axes({{"n", shape.n}, {"c", shape.c}}, shape, &SpatialAxis::input);
}

std::vector<Extent> destination_extents(const ConvShape& shape) {
  return with_axes({{"n", shape.n}, {"k", shape.k}}, shape, &SpatialAxis::output);
}

std::vector<Extent> weights_extents(const ConvShape& shape) {
  std::vector<Extent> extents;
  if (shape.groups > 1) extents.push_back({"g", shape.groups});
  extents.push_back({"k", shape.group_k()});
  extents.push_back({"c", shape.group_c()});
  const std::size_t first = 3 - shape.axes.size();
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    extents.push_back({kKernelSizeNames[first + i], shape.axes[i].kernel});
  }
  return extents;
}

using AxisCount = std::int64_t AxisCounts::*;

// Returns how many elements are used: all channels times the used positions of each axis. It cannot
// overflow because it is at most the tensor's element count.
std::int64_t touched(std::int64_t channels, const std::vector<AxisCounts>& counts,
                     AxisCount positions) {
  std::int64_t product = channels;
  for (const AxisCounts& count : counts) product *= count.*positions;
  return product;
}

struct Draft {
  const ConvShape& shape;
  std::vector<AxisCounts> counts;
  OperandTypes types;
  std::vector<Tensor> tensors;

  Status add(std::string_view name, TensorRole role, DataType dtype,
             const std::vector<Extent>& extents) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, make_tensor(name, role, dtype, extents));
    tensors.push_back(std::move(tensor));
    return Done{};
  }
  Status add_touched(std::string_view name, TensorRole role, DataType dtype,
                     const std::vector<Extent>& extents, std::int64_t channels,
                     AxisCount positions) {
    BENCH_RETURN_IF_ERROR(add(name, role, dtype, extents));
    tensors.back().touched = touched(channels, counts, positions);
    return Done{};
  }
  Status add_source() {
    return add_touched("source", TensorRole::input, types.source, source_extents(shape),
                       shape.n * shape.c, &AxisCounts::inputs);
  }
  Status add_weights() {
    return add_touched("weights", TensorRole::weights, types.weights, weights_extents(shape),
                       shape.k * shape.group_c(), &AxisCounts::kernels);
  }
  Status add_diff_destination() {
    return add_touched("diff_destination", TensorRole::input, types.source,
                       destination_extents(shape), shape.n * shape.k, &AxisCounts::outputs);
  }
  bool has_bias() const { return shape.bias == Bias::present; }
};

Status add_forward(Draft& draft) {
  BENCH_RETURN_IF_ERROR(draft.add_source());
  BENCH_RETURN_IF_ERROR(draft.add_weights());
  if (draft.has_bias()) {
    BENCH_RETURN_IF_ERROR(
        draft.add("bias", TensorRole::weights, draft.types.bias, {{"k", draft.shape.k}}));
  }
  return draft.add("destination", TensorRole::output, draft.types.destination,
                   destination_extents(draft.shape));
}

Status add_backward_data(Draft& draft) {
  BENCH_RETURN_IF_ERROR(draft.add_diff_destination());
  BENCH_RETURN_IF_ERROR(draft.add_weights());
  return draft.add("diff_source", TensorRole::output, draft.types.destination,
                   source_extents(draft.shape));
}

Status add_backward_weights(Draft& draft) {
  BENCH_RETURN_IF_ERROR(draft.add_source());
  BENCH_RETURN_IF_ERROR(draft.add_diff_destination());
  // The gradient of the bias sums up every element.
  if (draft.has_bias()) draft.tensors.back().touched = draft.tensors.back().elements();
  BENCH_RETURN_IF_ERROR(draft.add("diff_weights", TensorRole::output, draft.types.destination,
                                  weights_extents(draft.shape)));
  if (!draft.has_bias()) return Done{};
  return draft.add("diff_bias", TensorRole::output, draft.types.bias, {{"k", draft.shape.k}});
}

Status add_tensors(Direction direction, Draft& draft) {
  switch (direction) {
    case Direction::forward:
      return add_forward(draft);
    case Direction::backward_data:
      return add_backward_data(draft);
    case Direction::backward_weights:
      return add_backward_weights(draft);
  }
  return Done{};
}

// Multiply-accumulates including padding: each step of the sweep uses each tap.
Checked all_macs(const ConvShape& shape) {
  Checked macs = Checked(shape.n) * shape.k * shape.group_c();
  for (const SpatialAxis& axis : shape.axes) {
    macs *= Checked(shape.sweep == Sweep::transposed ? axis.input : axis.output) * axis.kernel;
  }
  return macs;
}

Checked valid_macs(const ConvShape& shape, const std::vector<AxisCounts>& counts) {
  Checked macs = Checked(shape.n) * shape.k * shape.group_c();
  for (const AxisCounts& count : counts) macs *= count.taps;
  return macs;
}

Checked bias_flops(const ConvShape& shape, Direction direction) {
  if (shape.bias == Bias::absent || direction == Direction::backward_data) return 0;
  Checked flops = Checked(shape.n) * shape.k;
  for (const SpatialAxis& axis : shape.axes) flops *= axis.output;
  return flops;
}

// Returns the parameter that the error for too much work names: the largest one.
std::string_view largest_parameter(const ConvShape& shape) {
  std::string_view name = "n";
  std::int64_t size = shape.n;
  const auto consider = [&](std::string_view candidate, std::int64_t value) {
    if (value > size) {
      name = candidate;
      size = value;
    }
  };
  consider("c", shape.c);
  consider("k", shape.k);
  for (const SpatialAxis& axis : shape.axes) consider(axis.name, axis.input);
  return name;
}

}  // namespace

Result<Model> model_conv(const Problem& problem) {
  const ConvShape shape = conv_shape(problem.parameters);
  Draft draft{shape, {}, operand_types(problem.dtype), {}};
  for (const SpatialAxis& axis : shape.axes) draft.counts.push_back(count_axis(axis, shape.sweep));
  BENCH_RETURN_IF_ERROR(add_tensors(problem.direction, draft));

  Model model;
  const std::string_view blame = largest_parameter(shape);
  const Checked bias = bias_flops(shape, problem.direction);
  BENCH_ASSIGN_OR_RETURN(model.work.flops, in_range(all_macs(shape) * 2 + bias, "flops", blame));
  BENCH_ASSIGN_OR_RETURN(
      model.work.flops_valid,
      in_range(valid_macs(shape, draft.counts) * 2 + bias, "flops_valid", blame));
  model.work.macs = *all_macs(shape).value();
  model.tensors = std::move(draft.tensors);
  BENCH_RETURN_IF_ERROR(count_bytes(model.tensors, model.work));
  model.formulas = conv_formulas(shape, problem.direction, draft.counts, model.work);
  model.formulas.push_back(bytes_formula(model.tensors));
  return model;
}

}  // namespace bench::ops
