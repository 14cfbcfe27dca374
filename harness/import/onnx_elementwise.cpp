// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// Functions of elements, norms, softmax and reductions.
#include "harness/import/onnx_network.hpp"
#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace bench::onnx {
namespace {

using Results = Result<std::vector<Value>>;

Error not_expressed(std::string what) { return {std::move(what), "", ""}; }

Results single(Result<Value> value) {
  if (!value.ok()) return std::move(value).error();
  return std::vector<Value>{*std::move(value)};
}

Result<Value> operand(const NodeView& view, std::size_t index) {
  const Value* value = view.input(index);
  if (value == nullptr) return not_expressed("an input is missing or unknown");
  return *value;
}

// The functions whose node has one input, and the attribute that is `alpha`.
struct UnaryRow {
  std::string_view op;
  std::string_view function;
  std::string_view coefficient;  // "": none
  double default_value;
};
constexpr std::array kUnary = {
    UnaryRow{"Relu", "relu", "", 0},
    UnaryRow{"LeakyRelu", "leaky_relu", "alpha", 0.01},
    UnaryRow{"Elu", "elu", "alpha", 1},
    UnaryRow{"Sigmoid", "sigmoid", "", 0},
    UnaryRow{"Tanh", "tanh", "", 0},
    UnaryRow{"HardSwish", "hardswish", "", 0},
    UnaryRow{"HardSigmoid", "hardsigmoid", "", 0},
    UnaryRow{"Exp", "exp", "", 0},
    UnaryRow{"Log", "log", "", 0},
    UnaryRow{"Sqrt", "sqrt", "", 0},
    UnaryRow{"Abs", "abs", "", 0},
    UnaryRow{"Swish", "swish", "alpha", 1},
    UnaryRow{"QuickGelu", "swish", "alpha", 1.702},
    UnaryRow{"FastGelu", "gelu_tanh", "", 0},
};

Results lower_unary(const NodeView& view, NetworkBuilder& builder) {
  const auto* row = std::ranges::find(kUnary, view.node.op, &UnaryRow::op);
  BENCH_ASSIGN_OR_RETURN(Value input, operand(view, 0));
  // FastGelu of com.microsoft has a bias.
  if (const Value* bias = view.node.op == "FastGelu" ? view.input(1) : nullptr) {
    BENCH_ASSIGN_OR_RETURN(input, builder.add_binary("add", input, *bias));
  }
  LayerParameters coefficients;
  if (!row->coefficient.empty()) {
    const double alpha = as_written(view.real(row->coefficient, row->default_value));
    if (alpha != ops::find_unary_function(row->function)->alpha)
      coefficients.emplace_back("alpha", alpha);
  }
  return single(builder.add_unary(row->function, input, std::move(coefficients)));
}

Results lower_gelu(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(Value input, operand(view, 0));
  if (const Value* bias = view.node.op == "BiasGelu" ? view.input(1) : nullptr) {
    BENCH_ASSIGN_OR_RETURN(input, builder.add_binary("add", input, *bias));
  }
  const Attribute* form = view.attribute("approximate");
  const bool is_tanh = form != nullptr && form->text == "tanh";
  return single(builder.add_unary(is_tanh ? "gelu_tanh" : "gelu_erf", input));
}

Results lower_neg(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  return single(builder.add_unary("scale", input, {{"alpha", -1.0}}));
}

Results lower_clip(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  constexpr double kUnlimited = 3.4e38;
  const auto limit = [&](std::string_view name, std::size_t index, double otherwise) {
    if (view.attribute(name) != nullptr) return as_written(view.real(name, otherwise));
    const Value* value = view.input(index);
    return value == nullptr ? otherwise : as_written(scalar_of(value).value_or(otherwise));
  };
  const double low = limit("min", 1, -kUnlimited);
  const double high = limit("max", 2, kUnlimited);
  if (low == 0 && high == kUnlimited) return single(builder.add_unary("relu", input));
  return single(builder.add_unary("clip", input, {{"alpha", low}, {"beta", high}}));
}

Results lower_pow(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  const auto exponent = scalar_of(view.input(1));
  if (exponent == 2.0) return single(builder.add_unary("square", input));
  if (exponent == 0.5) return single(builder.add_unary("sqrt", input));
  if (exponent == 1.0) return std::vector<Value>{input};
  return not_expressed("pointwise has only the powers 2 and 0.5");
}

// A single slope that the model contains is that of leaky_relu. Others are one per channel or per
// element; those of a channel are written as [c, 1, 1].
Results lower_prelu(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  const Value* slope = view.input(1);
  if (slope == nullptr || !slope->is_constant()) return not_expressed("its slopes are computed");
  if (const auto alpha = scalar_of(slope)) {
    return single(builder.add_unary("leaky_relu", input, {{"alpha", as_written(*alpha)}}));
  }
  ops::Dims dims = slope->dims;
  const std::size_t rank = input.dims.size();
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  ops::Dims channels(rank, 1);
  std::string_view slopes = "one";
  if (dims == input.dims && rank > 0) {
    slopes = "all";
  } else if (dims != channels) {
    if (rank < 2) return not_expressed("its slopes do not have the sizes of its input");
    channels[1] = input.dims[1];
    if (dims != channels)
      return not_expressed("its slopes are neither one per channel nor per element");
    slopes = "channel";
  }
  return single(builder.add("prelu", {{"slopes", std::string(slopes)}}, {input}));
}

// The window of channels; ONNX has no other.
Results lower_lrn(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  return single(builder.add("lrn",
                            {{"size", view.integer("size", 0)},
                             {"alpha", as_written(view.real("alpha", 0.0001))},
                             {"beta", as_written(view.real("beta", 0.75))},
                             {"k", as_written(view.real("bias", 1))}},
                            {input}));
}

// Whether nodes take the element at `floor((i + 0.5)*input/output)`, as resample does. `asymmetric`
// with `floor` takes the same elements if the sizes are whole multiples.
bool takes_nearest_centres(const NodeView& view, const ops::Dims& from, const ops::Dims& to) {
  const auto text = [&](std::string_view name, std::string_view otherwise) {
    const Attribute* attribute = view.attribute(name);
    return attribute == nullptr ? std::string(otherwise) : attribute->text;
  };
  const bool is_resize = view.node.op == "Resize";
  const std::string transformation =
      text("coordinate_transformation_mode", is_resize ? "half_pixel" : "asymmetric");
  const std::string rounding = text("nearest_mode", is_resize ? "round_prefer_floor" : "floor");
  if (transformation == "half_pixel") return rounding == "round_prefer_ceil";
  bool are_multiples = true;
  for (std::size_t i = 0; i < from.size(); ++i)
    are_multiples = are_multiples && to[i] % from[i] == 0;
  return transformation == "asymmetric" && rounding == "floor" && are_multiples;
}

// Returns the sizes that a node states, or that its factors give. nullopt: they depend on the data.
std::optional<ops::Dims> resized_dims(const NodeView& view, const ops::Dims& dims) {
  if (auto sizes = integers_of(view.input(3)); sizes && !sizes->empty()) return sizes;
  // Resize of opset 11 and later has regions before the factors.
  const Value* factors = view.input(view.inputs.size() > 2 ? 2 : 1);
  if (factors == nullptr || !factors->content || factors->content->size() != dims.size())
    return std::nullopt;
  ops::Dims result;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const double size = std::floor(static_cast<double>(dims[i]) * (*factors->content)[i]);
    if (size < 1 || size > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    result.push_back(static_cast<std::int64_t>(size));
  }
  return result;
}

// Resizes images. `Upsample` is its predecessor.
Results lower_resize(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  if (view.attribute("axes") != nullptr) return not_expressed("it names the axes of its sizes");
  const auto sizes = resized_dims(view, input.dims);
  if (!sizes) return not_expressed("its sizes depend on the data");
  const ops::Dims& result = *sizes;
  const std::size_t rank = input.dims.size();
  if (rank < 3 || rank > 5 || result.size() != rank || result[0] != input.dims[0] ||
      result[1] != input.dims[1]) {
    return not_expressed("resample changes the spatial sizes of images only");
  }
  const Attribute* mode = view.attribute("mode");
  const std::string name = mode == nullptr ? "nearest" : mode->text;
  if (name != "nearest" && name != "linear") return not_expressed("resample has no mode " + name);
  if (name == "linear") {
    const Attribute* transformation = view.attribute("coordinate_transformation_mode");
    const bool is_centred = view.node.op == "Resize" &&
                            (transformation == nullptr || transformation->text == "half_pixel" ||
                             transformation->text == "pytorch_half_pixel");
    if (!is_centred || view.integer("antialias", 0) != 0)
      return not_expressed("resample aligns the centres of elements, without antialiasing");
  } else if (!takes_nearest_centres(view, input.dims, result)) {
    return not_expressed("resample takes the element at the centre");
  }
  return single(builder.add(
      "resample", {{"function", name}, {"size", ops::Dims(result.begin() + 2, result.end())}},
      {input}));
}

struct BinaryRow {
  std::string_view op;
  std::string_view function;
};
constexpr std::array kBinary = {
    BinaryRow{"Add", "add"}, BinaryRow{"Sub", "sub"}, BinaryRow{"Mul", "mul"},
    BinaryRow{"Div", "div"}, BinaryRow{"Max", "max"}, BinaryRow{"Min", "min"},
    BinaryRow{"Sum", "add"},
};

bool is_same_value(const Value& a, const Value& b) {
  return a.origin == b.origin && a.source == b.source && a.dims == b.dims && !a.is_constant();
}

// A product with a number that the model contains. nullopt: it is not one.
std::optional<Result<Value>> scale_by_number(std::string_view function, const Value& a,
                                             const Value& b, NetworkBuilder& builder) {
  if (function != "mul" && function != "div") return std::nullopt;
  const bool is_first = function == "mul" && a.is_constant();
  const auto number = scalar_of(is_first ? &a : &b);
  const Value& input = is_first ? b : a;
  if (!number || *number == 0 || !std::isfinite(*number)) return std::nullopt;
  const bool keeps_dims = broadcast_dims(a.dims, b.dims) == input.dims;
  if (!keeps_dims) return std::nullopt;
  const double factor = function == "div" ? 1 / *number : *number;
  if (factor == 1) return input;
  return builder.add_unary("scale", input, {{"alpha", as_written(factor)}});
}

Result<Value> combine(std::string_view function, const Value& a, const Value& b,
                      NetworkBuilder& builder) {
  if (auto scaled = scale_by_number(function, a, b, builder)) return *std::move(scaled);
  if (function == "mul" && is_same_value(a, b)) return builder.add_unary("square", a);
  return builder.add_binary(function, a, b);
}

Results lower_binary(const NodeView& view, NetworkBuilder& builder) {
  const auto* row = std::ranges::find(kBinary, view.node.op, &BinaryRow::op);
  BENCH_ASSIGN_OR_RETURN(Value sum, operand(view, 0));
  if (!is_floating(sum.type))
    return not_expressed("it computes positions or masks, for which pointwise has no type");
  for (std::size_t i = 1; i < view.inputs.size(); ++i) {
    BENCH_ASSIGN_OR_RETURN(const Value next, operand(view, i));
    BENCH_ASSIGN_OR_RETURN(sum, combine(row->function, sum, next, builder));
  }
  return std::vector<Value>{std::move(sum)};
}

// Before opset 13, softmax is that of a matrix: all dimensions from the axis on are its row.
Results lower_softmax(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  constexpr std::int64_t kAlongAxis = 13;
  const bool is_along_axis = view.opset >= kAlongAxis;
  const auto axis = find_axis(view.integer("axis", is_along_axis ? -1 : 1), input.dims.size());
  if (!axis) return not_expressed("it has no such axis");
  Value source = input;
  if (!is_along_axis && *axis + 1 != input.dims.size()) {
    const std::span<const std::int64_t> dims(input.dims);
    source = with_dims(input, {ops::element_count(dims.first(*axis)).value_or(0),
                               ops::element_count(dims.subspan(*axis)).value_or(0)});
  }
  LayerParameters parameters;
  if (is_along_axis && *axis + 1 != input.dims.size())
    parameters.emplace_back("axis", static_cast<std::int64_t>(*axis));
  if (view.node.op == "LogSoftmax") parameters.emplace_back("log", true);
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("softmax", parameters, {source}));
  return std::vector<Value>{with_dims(std::move(result), input.dims)};
}

bool is_used(const NodeView& view, std::size_t output) {
  return view.node.outputs.size() > output && !view.node.outputs[output].empty();
}

bool are_constants(const NodeView& view, std::size_t first) {
  for (std::size_t i = first; i < view.inputs.size(); ++i) {
    const bool is_omitted = i < view.node.inputs.size() && view.node.inputs[i].empty();
    if (!is_omitted && (view.input(i) == nullptr || !view.input(i)->is_constant())) return false;
  }
  return true;
}

void add_epsilon(const NodeView& view, double default_value, LayerParameters& parameters) {
  constexpr double kOfOperators = 1e-5;
  const double epsilon = as_written(view.real("epsilon", default_value));
  if (epsilon > 0 && epsilon != kOfOperators) parameters.emplace_back("epsilon", epsilon);
}

Results lower_batch_norm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  if (view.integer("training_mode", 0) != 0 || is_used(view, 1))
    return not_expressed("it is in training mode; export the model for inference");
  if (!are_constants(view, 1)) return not_expressed("its statistics are computed");
  LayerParameters parameters;
  add_epsilon(view, 1e-5, parameters);
  Value source = input;
  if (input.dims.size() == 2) source = with_dims(input, {input.dims[0], input.dims[1], 1});
  BENCH_ASSIGN_OR_RETURN(Value result, builder.add("batch_norm", parameters, {source}));
  return std::vector<Value>{with_dims(std::move(result), input.dims)};
}

Results lower_layer_norm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  if (is_used(view, 1)) return not_expressed("its statistics are results");
  if (!are_constants(view, 1)) return not_expressed("its scale or shift is computed");
  const auto axis = find_axis(view.integer("axis", -1), input.dims.size());
  if (!axis) return not_expressed("it has no such axis");
  const bool is_rms = view.node.op != "LayerNormalization";
  LayerParameters parameters;
  if (*axis + 1 != input.dims.size())
    parameters.emplace_back("axis", static_cast<std::int64_t>(*axis));
  add_epsilon(view, 1e-5, parameters);
  if (view.input(1) == nullptr) parameters.emplace_back("scale", false);
  if (!is_rms && view.input(2) == nullptr) parameters.emplace_back("shift", false);
  return single(builder.add(is_rms ? "rms_norm" : "layer_norm", parameters, {input}));
}

Results lower_group_norm(const NodeView& view, NetworkBuilder& builder) {
  BENCH_ASSIGN_OR_RETURN(const Value input, operand(view, 0));
  if (!are_constants(view, 1)) return not_expressed("its scale or shift is computed");
  if (input.dims.size() < 3) return not_expressed("its input is not an image");
  const bool is_instance = view.node.op == "InstanceNormalization";
  LayerParameters parameters;
  if (!is_instance) parameters.emplace_back("groups", view.integer("num_groups", 1));
  add_epsilon(view, 1e-5, parameters);
  return single(builder.add(is_instance ? "instance_norm" : "group_norm", parameters, {input}));
}

struct ReductionRow {
  std::string_view op;
  std::string_view function;
};
constexpr std::array kReductions = {
    ReductionRow{"ReduceMean", "mean"}, ReductionRow{"ReduceSum", "sum"},
    ReductionRow{"ReduceMax", "max"},   ReductionRow{"ReduceMin", "min"},
    ReductionRow{"ReduceProd", "prod"}, ReductionRow{"ReduceL1", "l1"},
    ReductionRow{"ReduceL2", "l2"},     ReductionRow{"ReduceSumSquare", "sum"},
};

// A mean over all points of an image is what libraries compute as global pooling.
bool is_mean_of_points(std::string_view function, const Value& input,
                       const std::vector<std::int64_t>& axes) {
  const std::size_t rank = input.dims.size();
  return function == "mean" && (rank == 4 || rank == 5) && axes.size() == rank - 2 &&
         axes.front() == 2 && axes.back() == static_cast<std::int64_t>(rank) - 1;
}

Result<std::vector<std::int64_t>> reduced_axes(const NodeView& view, std::size_t rank) {
  const auto written = view.integers("axes", 1);
  if (view.input(1) != nullptr && !written) return not_expressed("its axes depend on the data");
  std::vector<std::int64_t> axes;
  const bool is_all = !written || written->empty();
  if (is_all && view.integer("noop_with_empty_axes", 0) != 0) return axes;
  for (std::size_t i = 0; i < rank && is_all; ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (const std::int64_t axis : is_all ? std::vector<std::int64_t>() : *written) {
    const auto at = find_axis(axis, rank);
    if (!at) return not_expressed("it has no such axis");
    axes.push_back(static_cast<std::int64_t>(*at));
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

Results lower_reduction(const NodeView& view, NetworkBuilder& builder) {
  const auto* row = std::ranges::find(kReductions, view.node.op, &ReductionRow::op);
  BENCH_ASSIGN_OR_RETURN(Value input, operand(view, 0));
  BENCH_ASSIGN_OR_RETURN(const auto axes, reduced_axes(view, input.dims.size()));
  if (!is_floating(input.type))
    return not_expressed("it computes positions or masks, for which reduction has no type");
  if (axes.empty()) return std::vector<Value>{input};
  ops::Dims dims;
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    const bool is_reduced = std::ranges::binary_search(axes, static_cast<std::int64_t>(i));
    if (!is_reduced)
      dims.push_back(input.dims[i]);
    else if (view.integer("keepdims", 1) != 0)
      dims.push_back(1);
  }
  if (row->op == "ReduceSumSquare") {
    BENCH_ASSIGN_OR_RETURN(input, builder.add_unary("square", input));
  }
  const bool is_pool = is_mean_of_points(row->function, input, axes);
  Result<Value> result =
      is_pool
          ? builder.add("pool", {{"function", std::string("avg_exclude_pad")}, {"global", true}},
                        {input})
          : builder.add("reduction", {{"function", std::string(row->function)}, {"axis", axes}},
                        {input});
  if (!result.ok()) return std::move(result).error();
  return std::vector<Value>{with_dims(*std::move(result), std::move(dims))};
}

constexpr std::array kElementwise = {
    LoweringRow{"", "Relu", lower_unary},
    LoweringRow{"", "LeakyRelu", lower_unary},
    LoweringRow{"", "Elu", lower_unary},
    LoweringRow{"", "Sigmoid", lower_unary},
    LoweringRow{"", "Tanh", lower_unary},
    LoweringRow{"", "HardSwish", lower_unary},
    LoweringRow{"", "HardSigmoid", lower_unary},
    LoweringRow{"", "Exp", lower_unary},
    LoweringRow{"", "Log", lower_unary},
    LoweringRow{"", "Sqrt", lower_unary},
    LoweringRow{"", "Abs", lower_unary},
    LoweringRow{"", "Swish", lower_unary},
    LoweringRow{"", "Gelu", lower_gelu},
    LoweringRow{"com.microsoft", "Gelu", lower_gelu},
    LoweringRow{"com.microsoft", "BiasGelu", lower_gelu},
    LoweringRow{"com.microsoft", "FastGelu", lower_unary},
    LoweringRow{"com.microsoft", "QuickGelu", lower_unary},
    LoweringRow{"", "Neg", lower_neg},
    LoweringRow{"", "Clip", lower_clip},
    LoweringRow{"", "Pow", lower_pow},
    LoweringRow{"", "PRelu", lower_prelu},
    LoweringRow{"", "LRN", lower_lrn},
    LoweringRow{"", "Resize", lower_resize},
    LoweringRow{"", "Upsample", lower_resize},
    LoweringRow{"", "Add", lower_binary},
    LoweringRow{"", "Sub", lower_binary},
    LoweringRow{"", "Mul", lower_binary},
    LoweringRow{"", "Div", lower_binary},
    LoweringRow{"", "Max", lower_binary},
    LoweringRow{"", "Min", lower_binary},
    LoweringRow{"", "Sum", lower_binary},
    LoweringRow{"", "Softmax", lower_softmax},
    LoweringRow{"", "LogSoftmax", lower_softmax},
    LoweringRow{"", "BatchNormalization", lower_batch_norm},
    LoweringRow{"", "LayerNormalization", lower_layer_norm},
    LoweringRow{"", "RMSNormalization", lower_layer_norm},
    LoweringRow{"", "SimplifiedLayerNormalization", lower_layer_norm},
    LoweringRow{"com.microsoft", "SimplifiedLayerNormalization", lower_layer_norm},
    LoweringRow{"", "GroupNormalization", lower_group_norm},
    LoweringRow{"", "InstanceNormalization", lower_group_norm},
    LoweringRow{"", "ReduceMean", lower_reduction},
    LoweringRow{"", "ReduceSum", lower_reduction},
    LoweringRow{"", "ReduceMax", lower_reduction},
    LoweringRow{"", "ReduceMin", lower_reduction},
    LoweringRow{"", "ReduceProd", lower_reduction},
    LoweringRow{"", "ReduceL1", lower_reduction},
    LoweringRow{"", "ReduceL2", lower_reduction},
    LoweringRow{"", "ReduceSumSquare", lower_reduction},
};

}  // namespace

std::span<const LoweringRow> elementwise_rows() { return kElementwise; }

}  // namespace bench::onnx
