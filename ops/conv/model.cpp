// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/data_types.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

namespace {

// The letters of an axis in formulas.
struct Letters {
  std::string_view input;
  std::string_view output;
  std::string_view kernel;
  std::string_view begin;  // padding at the begin
  std::string_view end;    // padding at the end
};

// By distance from the innermost axis: width, height, depth.
constexpr Letters kLetters[] = {
    {"W", "Q", "S", "pl", "pr"}, {"H", "P", "R", "pt", "pb"}, {"D", "O", "T", "p0", "p1"}};

const Letters& axis_letters(const ConvShape& shape, std::size_t axis) {
  return kLetters[shape.axes.size() - 1 - axis];
}

Formula output_formula(const SpatialAxis& axis, const Letters& letters, Sweep sweep) {
  constexpr std::string_view kConvolution = "floor(({} + {} + {} - {}*({}-1) - 1)/{}) + 1";
  constexpr std::string_view kTransposed = "({}-1)*{} - {} - {} + {}*({}-1) + {} + 1";
  Formula formula{std::string(letters.output), {}, {}, axis.output};
  if (sweep == Sweep::convolution) {
    formula.expression = fmt::format(kConvolution, letters.input, letters.begin, letters.end, "e",
                                     letters.kernel, "u");
    formula.values = fmt::format(kConvolution, axis.input, axis.pad.begin, axis.pad.end,
                                 axis.dilation, axis.kernel, axis.stride);
  } else {
    formula.expression = fmt::format(kTransposed, letters.input, "u", letters.begin, letters.end,
                                     "e", letters.kernel, "o");
    formula.values = fmt::format(kTransposed, axis.input, axis.stride, axis.pad.begin, axis.pad.end,
                                 axis.dilation, axis.kernel, axis.output_pad);
  }
  return formula;
}

// Returns the formula that counts the pairs of a step i and a tap j that use an element and not
// padding.
Formula taps_formula(const SpatialAxis& axis, const Letters& letters, Sweep sweep,
                     const AxisCounts& counts) {
  constexpr std::string_view kPairs = "#{{i < {}, j < {}: 0 <= i*{} - {} + j*{} < {}}}";
  const bool transposed = sweep == Sweep::transposed;
  Formula formula{fmt::format("V{}", axis.name), {}, {}, counts.taps.value().value_or(0)};
  formula.expression =
      fmt::format(kPairs, transposed ? letters.input : letters.output, letters.kernel, "u",
                  letters.begin, "e", transposed ? letters.output : letters.input);
  formula.values =
      fmt::format(kPairs, transposed ? axis.input : axis.output, axis.kernel, axis.stride,
                  axis.pad.begin, axis.dilation, transposed ? axis.output : axis.input);
  return formula;
}

// A product of a formula, in letters and in numbers: "P*Q", "56*56".
struct Product {
  std::string letters;
  std::string numbers;

  void multiply(std::string_view letter, std::int64_t number) {
    letters += fmt::format("*{}", letter);
    numbers += fmt::format("*{}", number);
  }
};

Product make_channel_product(const ConvShape& shape) {
  return {"N*K*(C/g)", fmt::format("{}*{}*({}/{})", shape.n, shape.k, shape.c, shape.groups)};
}

Product make_tap_product(const ConvShape& shape) {
  Product product = make_channel_product(shape);
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    const bool transposed = shape.sweep == Sweep::transposed;
    product.multiply(transposed ? axis_letters(shape, i).input : axis_letters(shape, i).output,
                     transposed ? shape.axes[i].input : shape.axes[i].output);
  }
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.multiply(axis_letters(shape, i).kernel, shape.axes[i].kernel);
  }
  return product;
}

Product make_valid_tap_product(const ConvShape& shape, const std::vector<AxisCounts>& counts) {
  Product product = make_channel_product(shape);
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.multiply(fmt::format("V{}", shape.axes[i].name), counts[i].taps.value().value_or(0));
  }
  return product;
}

Product make_bias_term(const ConvShape& shape, Direction direction) {
  if (shape.bias == Bias::absent || direction == Direction::backward_data) return {};
  Product product{" + N*K", fmt::format(" + {}*{}", shape.n, shape.k)};
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    product.multiply(axis_letters(shape, i).output, shape.axes[i].output);
  }
  return product;
}

Formula flops_formula(std::string_view name, const Product& macs, const Product& bias,
                      std::int64_t result) {
  return {std::string(name), fmt::format("2*{}{}", macs.letters, bias.letters),
          fmt::format("2*{}{}", macs.numbers, bias.numbers), result};
}

// Returns the formula lines of `explain`: output sizes, valid taps, MACs, FLOPs with and without
// padding taps. `work` contains their results.
std::vector<Formula> make_conv_formulas(const ConvShape& shape, Direction direction,
                                        const std::vector<AxisCounts>& counts, const Work& work) {
  std::vector<Formula> formulas;
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    formulas.push_back(output_formula(shape.axes[i], axis_letters(shape, i), shape.sweep));
  }
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    formulas.push_back(taps_formula(shape.axes[i], axis_letters(shape, i), shape.sweep, counts[i]));
  }
  const Product macs = make_tap_product(shape);
  const Product bias = make_bias_term(shape, direction);
  formulas.push_back({"macs", macs.letters, macs.numbers, work.macs.value_or(0)});
  formulas.push_back(flops_formula("flops", macs, bias, work.flops));
  formulas.push_back(
      flops_formula("flops_valid", make_valid_tap_product(shape, counts), bias, work.flops_valid));
  return formulas;
}

}  // namespace

// The code below computes the tensors and the work of a convolution, in the convention bench-1
// (docs/work_model.md).

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

// Returns the number of elements that are used: all channels times the used positions of each axis.
// The number cannot overflow because it is at most the tensor's element count.
std::int64_t count_touched(std::int64_t channels, const std::vector<AxisCounts>& counts,
                           AxisCount positions) {
  std::int64_t product = channels;
  for (const AxisCounts& count : counts) product *= count.*positions;
  return product;
}

// The tensors of a model under construction.
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
    tensors.back().touched = count_touched(channels, counts, positions);
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

// Returns the multiply-accumulates including those with padding: each step of the sweep uses each
// tap.
Checked count_all_macs(const ConvShape& shape) {
  Checked macs = Checked(shape.n) * shape.k * shape.group_c();
  for (const SpatialAxis& axis : shape.axes) {
    macs *= Checked(shape.sweep == Sweep::transposed ? axis.input : axis.output) * axis.kernel;
  }
  return macs;
}

Checked count_valid_macs(const ConvShape& shape, const std::vector<AxisCounts>& counts) {
  Checked macs = Checked(shape.n) * shape.k * shape.group_c();
  for (const AxisCounts& count : counts) macs *= count.taps;
  return macs;
}

Checked count_bias_flops(const ConvShape& shape, Direction direction) {
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
  const std::string_view parameter = largest_parameter(shape);
  const Checked bias = count_bias_flops(shape, problem.direction);
  BENCH_ASSIGN_OR_RETURN(model.work.flops,
                         in_range(count_all_macs(shape) * 2 + bias, "flops", parameter));
  BENCH_ASSIGN_OR_RETURN(
      model.work.flops_valid,
      in_range(count_valid_macs(shape, draft.counts) * 2 + bias, "flops_valid", parameter));
  model.work.macs = *count_all_macs(shape).value();
  model.tensors = std::move(draft.tensors);
  BENCH_RETURN_IF_ERROR(count_bytes(model.tensors, model.work));
  model.formulas = make_conv_formulas(shape, problem.direction, draft.counts, model.work);
  model.formulas.push_back(bytes_formula(model.tensors));
  return model;
}

}  // namespace bench::ops
