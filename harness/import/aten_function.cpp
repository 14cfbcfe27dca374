// SPDX-License-Identifier: Apache-2.0
// table: one row per function of PyTorch
#include "harness/import/aten_function.hpp"

#include "base/checked.hpp"
#include "base/quote.hpp"
#include "ops/framework_row.hpp"
#include "ops/operator.hpp"
#include "ops/spatial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

namespace bench {
namespace {

using Arguments = std::span<const PythonValue>;
using Requests = Result<std::vector<ops::ProblemRequest>>;
using Numbers = std::vector<std::int64_t>;
using ops::Direction;
using ops::framework::default_parameters;
using ops::framework::image_parameters;
using ops::framework::to_pad_pairs;

Error aten_error(std::string_view what) { return {std::string(what), {}, {}}; }

struct AtenTensor {
  ops::Dims shape;
  DataType dtype = DataType::f32;
  Numbers strides;  // empty: row-major
};

struct AtenType {
  std::string_view name;
  DataType dtype;
};
constexpr std::array<AtenType, 6> kAtenTypes = {{{"f16", DataType::f16},
                                                 {"bf16", DataType::bf16},
                                                 {"f32", DataType::f32},
                                                 {"f64", DataType::f64},
                                                 {"i8", DataType::s8},
                                                 {"u8", DataType::u8}}};

const PythonValue* argument_at(Arguments arguments, std::size_t index) {
  return index < arguments.size() && arguments[index].keyword.empty() ? &arguments[index] : nullptr;
}

// Reads T([2, 3], f16, stride=(3, 1)). `dtype` is only needed if the tensor is computed with.
std::optional<ops::Dims> tensor_shape(const PythonValue* value) {
  const bool is_tensor = value != nullptr && value->kind == PythonValue::Kind::call &&
                         value->word == "T" && value->items.size() >= 2;
  if (!is_tensor) return std::nullopt;
  auto shape = value->items[0].integers();
  const bool is_valid = shape && !shape->empty() &&
                        std::ranges::all_of(*shape, [](std::int64_t size) { return size > 0; });
  return is_valid ? std::move(shape) : std::nullopt;
}

std::optional<AtenTensor> read_tensor(Arguments arguments, std::size_t index) {
  const PythonValue* value = argument_at(arguments, index);
  auto shape = tensor_shape(value);
  if (!shape) return std::nullopt;
  const auto* type = std::ranges::find(kAtenTypes, value->items[1].word, &AtenType::name);
  if (type == kAtenTypes.end()) return std::nullopt;
  AtenTensor tensor{*std::move(shape), type->dtype, {}};
  for (const PythonValue& item : value->items) {
    if (item.keyword == "stride") tensor.strides = item.integers().value_or(Numbers{});
  }
  return tensor;
}

bool is_none(const PythonValue* value) { return value == nullptr || value->is("None"); }

// Returns `rank` numbers; one number stands for all. An empty list or a missing argument gives the
// fallback.
std::optional<Numbers> read_numbers(Arguments arguments, std::size_t index, std::size_t rank,
                                    const Numbers& fallback) {
  const PythonValue* value = argument_at(arguments, index);
  if (value == nullptr) return fallback;
  auto numbers = value->integers();
  if (!numbers) return std::nullopt;
  if (numbers->empty()) return fallback;
  if (numbers->size() == 1) numbers->resize(rank, numbers->front());
  return numbers->size() == rank ? numbers : std::nullopt;
}

bool read_flag(Arguments arguments, std::size_t index, bool fallback) {
  const PythonValue* value = argument_at(arguments, index);
  return value == nullptr ? fallback : value->integer().value_or(0) != 0;
}

ops::ProblemRequest make_request(std::string_view op, ops::ParameterSet set, DataType dtype,
                                 Direction direction = Direction::forward) {
  return {.op = ops::find_operator(op),
          .direction = direction,
          .dtype = dtype,
          .parameters = std::move(set)};
}

// How a matrix lies in memory.
enum class MatrixForm { plain, transposed };

// Returns nullopt if it is part of a larger tensor, or broadcast.
std::optional<MatrixForm> matrix_form(const AtenTensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  const auto has_strides = [&](std::size_t inner, std::size_t outer) {
    std::vector<std::size_t> order = {inner, outer};
    for (std::size_t i = rank - 2; i-- > 0;) order.push_back(i);
    Checked expected = 1;
    for (const std::size_t axis : order) {
      if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected.value()) return false;
      expected *= tensor.shape[axis];
    }
    return true;
  };
  if (tensor.strides.empty()) return MatrixForm::plain;
  if (tensor.strides.size() != rank) return std::nullopt;
  if (has_strides(rank - 1, rank - 2)) return MatrixForm::plain;
  return has_strides(rank - 2, rank - 1) ? std::optional(MatrixForm::transposed) : std::nullopt;
}

struct AtenRow;
using AtenRequest = Requests (*)(Arguments arguments, const AtenRow& row);
struct AtenRow {
  std::string_view name;
  AtenRequest request;
  std::string_view function = {};  // the operator's parameter `function`
};

Requests request_product(Arguments arguments, std::size_t first, std::size_t rank, bool has_bias) {
  const auto a = read_tensor(arguments, first);
  const auto b = read_tensor(arguments, first + 1);
  if (!a || !b || a->dtype != b->dtype || a->shape.size() != rank || b->shape.size() != rank)
    return aten_error("the operands are not two matrices of one type");
  const auto a_form = matrix_form(*a);
  const auto b_form = matrix_form(*b);
  if (!a_form || !b_form) return aten_error("an operand is neither plain nor transposed in memory");
  if (a->shape[rank - 1] != b->shape[rank - 2]) return aten_error("the shapes do not fit");
  ops::ParameterSet set = default_parameters("gemm");
  set.set("m", a->shape[rank - 2]);
  set.set("n", b->shape[rank - 1]);
  set.set("k", a->shape[rank - 1]);
  set.set("trans_a", *a_form == MatrixForm::transposed);
  set.set("trans_b", *b_form == MatrixForm::transposed);
  set.set("bias", has_bias);
  if (rank == 3) {
    if (a->shape[0] != b->shape[0]) return aten_error("the batches differ");
    set.set("batch", a->shape[0]);
    // Both operands of a batch of products are activations.
    set.set("two_inputs", true);
  }
  return std::vector{make_request("gemm", std::move(set), a->dtype)};
}

Requests request_mm(Arguments arguments, const AtenRow&) {
  return request_product(arguments, 0, 2, false);
}
Requests request_bmm(Arguments arguments, const AtenRow&) {
  return request_product(arguments, 0, 3, false);
}
Requests request_addmm(Arguments arguments, const AtenRow&) {
  const auto addend = read_tensor(arguments, 0);
  if (!addend || addend->shape.size() != 1)
    return aten_error("the addend is not one value per column");
  return request_product(arguments, 1, 2, true);
}

// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups), the first
// three from `first` on. The gradients have the sizes of the bias in its place.
Requests request_aten_convolution(Arguments arguments, std::size_t first, bool has_bias,
                                  std::span<const Direction> directions) {
  const auto source = read_tensor(arguments, first);
  const auto weights = read_tensor(arguments, first + 1);
  if (!source || !weights || source->dtype != weights->dtype ||
      !ops::framework::is_image(source->shape) || weights->shape.size() != source->shape.size())
    return aten_error("source and weights are not images of one type");
  const std::size_t rank = source->shape.size() - ops::kFirstSpatial;
  const auto stride = read_numbers(arguments, first + 3, rank, Numbers(rank, 1));
  const auto pad = read_numbers(arguments, first + 4, rank, Numbers(rank, 0));
  const auto dilation = read_numbers(arguments, first + 5, rank, Numbers(rank, 1));
  const auto groups = read_numbers(arguments, first + 8, 1, {1});
  if (!stride || !pad || !dilation || !groups) return aten_error("an argument is not a number");
  if (read_flag(arguments, first + 6, false))
    return aten_error("transposed convolutions are not imported");
  const std::int64_t g = groups->front();
  if (g < 1 || source->shape[1] % g != 0 || source->shape[1] / g != weights->shape[1])
    return aten_error("the channels do not fit the groups");
  ops::ParameterSet set = image_parameters("conv", source->shape);
  set.set("g", g);
  set.set("k", weights->shape[0]);
  ops::set_spatial_sizes(set, ops::kKernelSizeNames,
                         std::span(weights->shape).subspan(ops::kFirstSpatial));
  set.set("stride", *stride);
  set.set("pad", to_pad_pairs(*pad));
  set.set("dilation", *dilation);
  set.set("bias", has_bias);
  std::vector<ops::ProblemRequest> requests;
  for (const Direction direction : directions)
    requests.push_back(make_request("conv", set, source->dtype, direction));
  return requests;
}

Requests request_forward_convolution(Arguments arguments, const AtenRow&) {
  constexpr std::array kForward = {Direction::forward};
  return request_aten_convolution(arguments, 0, !is_none(argument_at(arguments, 2)), kForward);
}

// The last argument states which gradients are computed: of input, weight and bias.
Requests request_convolution_gradients(Arguments arguments, const AtenRow&) {
  constexpr std::size_t kMask = 10;
  const auto mask = read_numbers(arguments, kMask, 3, {1, 1, 0});
  if (!mask) return aten_error("the mask of the gradients is not understood");
  std::vector<ops::ProblemRequest> requests;
  if ((*mask)[0] != 0) {
    constexpr std::array kData = {Direction::backward_data};
    BENCH_ASSIGN_OR_RETURN(requests, request_aten_convolution(arguments, 1, false, kData));
  }
  if ((*mask)[1] != 0) {
    constexpr std::array kWeights = {Direction::backward_weights};
    BENCH_ASSIGN_OR_RETURN(auto more,
                           request_aten_convolution(arguments, 1, (*mask)[2] != 0, kWeights));
    requests.push_back(std::move(more.front()));
  }
  if (requests.empty()) return aten_error("no gradient of input or weights is computed");
  return requests;
}

std::optional<std::int64_t> read_aten_axis(Arguments arguments, std::size_t index,
                                           std::size_t rank) {
  const auto axis = read_numbers(arguments, index, 1, {});
  if (!axis || axis->empty()) return std::nullopt;
  const auto end = static_cast<std::int64_t>(rank);
  const std::int64_t number = axis->front() < 0 ? axis->front() + end : axis->front();
  return number >= 0 && number < end ? std::optional(number) : std::nullopt;
}

// (input, dim, ...), or the gradient: (grad_output, output, dim, ...). `function`: "log" for the
// logarithm.
Requests request_softmax(Arguments arguments, const AtenRow& row, std::size_t axis_index,
                         Direction direction) {
  const auto source = read_tensor(arguments, 0);
  if (!source) return aten_error("the input is not a tensor of a case's type");
  const auto axis = read_aten_axis(arguments, axis_index, source->shape.size());
  if (!axis) return aten_error("the dimension is not understood");
  ops::ParameterSet set = default_parameters("softmax");
  set.set("shape", source->shape);
  set.set("axis", *axis);
  set.set("log", row.function == "log");
  return std::vector{make_request("softmax", std::move(set), source->dtype, direction)};
}
Requests request_forward_softmax(Arguments arguments, const AtenRow& row) {
  return request_softmax(arguments, row, 1, Direction::forward);
}
Requests request_softmax_gradient(Arguments arguments, const AtenRow& row) {
  return request_softmax(arguments, row, 2, Direction::backward_data);
}

// (input, normalized_shape, weight, bias, eps)
Requests request_layer_norm(Arguments arguments, const AtenRow&) {
  const auto source = read_tensor(arguments, 0);
  const PythonValue* normalised = argument_at(arguments, 1);
  const auto sizes = normalised == nullptr ? std::nullopt : normalised->integers();
  if (!source || !sizes || sizes->empty() || sizes->size() > source->shape.size())
    return aten_error("the normalised shape is not understood");
  ops::ParameterSet set = default_parameters("layer_norm");
  set.set("mode", std::string("training"));  // it returns the statistics
  set.set("shape", source->shape);
  set.set("axis", static_cast<std::int64_t>(source->shape.size() - sizes->size()));
  set.set("scale", !is_none(argument_at(arguments, 2)));
  set.set("shift", !is_none(argument_at(arguments, 3)));
  return std::vector{make_request("layer_norm", std::move(set), source->dtype)};
}

Requests request_unary(Arguments arguments, const AtenRow& row) {
  const auto source = read_tensor(arguments, 0);
  if (!source) return aten_error("the input is not a tensor of a case's type");
  ops::ParameterSet set = default_parameters("pointwise");
  // GELU's variant is a keyword: approximate='tanh'.
  const bool is_tanh = std::ranges::any_of(arguments, [](const PythonValue& argument) {
    return argument.keyword == "approximate" && argument.word == "tanh";
  });
  set.set("function",
          std::string(row.function == "gelu_erf" && is_tanh ? "gelu_tanh" : row.function));
  set.set("shape", source->shape);
  return std::vector{make_request("pointwise", std::move(set), source->dtype)};
}

// (grad_output, input or output, ...)
Requests request_unary_gradient(Arguments arguments, const AtenRow& row) {
  auto requests = request_unary(arguments, row);
  if (requests.ok()) requests->front().direction = Direction::backward_data;
  return requests;
}

// Returns the numbers from argument `first` on, which are all other arguments; a missing one has
// its default. Returns nullopt for another kind or number of arguments.
std::optional<std::vector<double>> read_coefficients(Arguments arguments, std::size_t first,
                                                     std::vector<double> defaults) {
  if (arguments.size() > first + defaults.size()) return std::nullopt;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    const PythonValue& value = arguments[i];
    if (value.kind != PythonValue::Kind::number || !value.keyword.empty() ||
        !std::isfinite(value.number))
      return std::nullopt;
    defaults[i - first] = value.number;
  }
  return defaults;
}

Error coefficient_error() { return aten_error("the coefficients are not understood"); }

// (input, negative_slope)
Requests request_leaky_relu(Arguments arguments, const AtenRow& row) {
  const auto slope = read_coefficients(arguments, 1, {0.01});
  if (!slope) return coefficient_error();
  auto requests = request_unary(arguments, row);
  if (requests.ok()) requests->front().parameters.set("alpha", slope->front());
  return requests;
}

// (input, alpha, scale, input_scale); a case has no scales.
Requests request_elu(Arguments arguments, const AtenRow& row) {
  const auto coefficients = read_coefficients(arguments, 1, {1, 1, 1});
  if (!coefficients || (*coefficients)[1] != 1 || (*coefficients)[2] != 1)
    return coefficient_error();
  auto requests = request_unary(arguments, row);
  if (requests.ok()) requests->front().parameters.set("alpha", coefficients->front());
  return requests;
}

// The limits begin at argument `first`.
Requests request_limits(Arguments arguments, const AtenRow& row, std::size_t first) {
  const auto limits = read_coefficients(arguments, first, {-1, 1});
  if (!limits) return coefficient_error();
  auto requests = request_unary(arguments, row);
  if (!requests.ok()) return requests;
  requests->front().parameters.set("alpha", limits->front());
  requests->front().parameters.set("beta", limits->back());
  return requests;
}

// (input, min_val, max_val)
Requests request_hardtanh(Arguments arguments, const AtenRow& row) {
  return request_limits(arguments, row, 1);
}

// (grad_output, input, min_val, max_val)
Requests request_hardtanh_gradient(Arguments arguments, const AtenRow& row) {
  auto requests = request_limits(arguments, row, 2);
  if (requests.ok()) requests->front().direction = Direction::backward_data;
  return requests;
}

// (input, min, max), of which one may be missing; a case has both.
Requests request_clamp(Arguments arguments, const AtenRow& row) {
  constexpr std::size_t kBothLimits = 3;
  return arguments.size() == kBothLimits ? request_limits(arguments, row, 1)
                                         : Requests(coefficient_error());
}

Requests request_binary(Arguments arguments, const AtenRow& row) {
  const auto a = read_tensor(arguments, 0);
  const auto b = read_tensor(arguments, 1);
  if (!a || !b || a->dtype != b->dtype)
    return aten_error("the operands are not two tensors of one type");
  ops::ParameterSet set = default_parameters("pointwise");
  set.set("function", std::string(row.function));
  // A case has the same number of dimensions in both operands.
  const std::size_t rank = std::max(a->shape.size(), b->shape.size());
  const auto extend = [&](ops::Dims shape) {
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
  };
  set.set("a", extend(a->shape));
  set.set("b", extend(b->shape));
  return std::vector{make_request("pointwise", std::move(set), a->dtype)};
}

// (input, dims, keepdim)
Requests request_reduction(Arguments arguments, const AtenRow& row) {
  const auto source = read_tensor(arguments, 0);
  const PythonValue* dims = argument_at(arguments, 1);
  const auto axes = dims == nullptr ? std::nullopt : dims->integers();
  if (!source || !axes || axes->empty()) return aten_error("the dimensions are not understood");
  const auto rank = static_cast<std::int64_t>(source->shape.size());
  Numbers positive;
  for (const std::int64_t axis : *axes) positive.push_back(axis < 0 ? axis + rank : axis);
  std::ranges::sort(positive);
  ops::ParameterSet set = default_parameters("reduction");
  set.set("function", std::string(row.function));
  set.set("shape", source->shape);
  set.set("axis", std::move(positive));
  return std::vector{make_request("reduction", std::move(set), source->dtype)};
}

// max: (input, kernel, stride, padding, dilation, ceil_mode);
// avg: (input, kernel, stride, padding, ceil_mode, count_include_pad)
Requests request_pool(Arguments arguments, const AtenRow& row) {
  const auto source = read_tensor(arguments, 0);
  if (!source || source->shape.size() != 4) return aten_error("the input is not an image");
  const bool is_maximum = row.function == "max";
  const auto window = read_numbers(arguments, 1, 2, {});
  if (!window || window->empty()) return aten_error("the window is not understood");
  const auto stride = read_numbers(arguments, 2, 2, *window);
  const auto pad = read_numbers(arguments, 3, 2, {0, 0});
  const auto dilation = is_maximum ? read_numbers(arguments, 4, 2, {1, 1}) : Numbers{1, 1};
  if (!stride || !pad || dilation != Numbers{1, 1} ||
      read_flag(arguments, is_maximum ? 5 : 4, false))
    return aten_error("a case has neither dilation nor rounding up");
  const bool includes_pad = read_flag(arguments, 5, true);
  ops::ParameterSet set = image_parameters("pool", source->shape);
  set.set("function", std::string(is_maximum     ? "max"
                                  : includes_pad ? "avg_include_pad"
                                                 : "avg_exclude_pad"));
  set.set("window", *window);
  set.set("stride", *stride);
  set.set("pad", to_pad_pairs(*pad));
  return std::vector{make_request("pool", std::move(set), source->dtype)};
}

Requests request_embedding(Arguments arguments, const AtenRow&) {
  const auto table = read_tensor(arguments, 0);
  const auto indices = tensor_shape(argument_at(arguments, 1));
  const auto count = indices ? ops::element_count(*indices) : std::nullopt;
  if (!table || table->shape.size() != 2 || !count) return aten_error("the shapes do not fit");
  ops::ParameterSet set = default_parameters("embedding");
  set.set("rows", table->shape[0]);
  set.set("dim", table->shape[1]);
  set.set("indices", *count);
  return std::vector{make_request("embedding", std::move(set), table->dtype)};
}

// ([tensors], dim)
Requests request_concat(Arguments arguments, const AtenRow&) {
  const PythonValue* list = argument_at(arguments, 0);
  if (list == nullptr || list->kind != PythonValue::Kind::list || list->items.empty())
    return aten_error("the first argument is not a list of tensors");
  const auto first = read_tensor(list->items, 0);
  if (!first) return aten_error("the inputs are not tensors of a case's type");
  const std::size_t rank = first->shape.size();
  const auto axis =
      arguments.size() > 1 ? read_aten_axis(arguments, 1, rank) : std::optional(std::int64_t{0});
  if (!axis) return aten_error("the dimension is not understood");
  const auto along = static_cast<std::size_t>(*axis);
  ops::Dims whole = first->shape;
  whole[along] = 0;
  Numbers sizes;
  Checked sum = 0;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const auto tensor = read_tensor(list->items, i);
    if (!tensor || tensor->dtype != first->dtype || tensor->shape.size() != rank)
      return aten_error("the inputs do not fit");
    sizes.push_back(tensor->shape[along]);
    sum += tensor->shape[along];
    ops::Dims others = tensor->shape;
    others[along] = 0;
    if (others != whole) return aten_error("the inputs do not fit");
  }
  if (!sum.value()) return aten_error("the result is too large");
  whole[along] = *sum.value();
  ops::ParameterSet set = default_parameters("concat");
  set.set("shape", std::move(whole));
  set.set("axis", *axis);
  set.set("sizes", std::move(sizes));
  return std::vector{make_request("concat", std::move(set), first->dtype)};
}

constexpr AtenRow kAtenRows[] = {
    {"mm", request_mm},
    {"bmm", request_bmm},
    {"addmm", request_addmm},
    {"convolution", request_forward_convolution},
    {"convolution_backward", request_convolution_gradients},
    {"_softmax", request_forward_softmax},
    {"_log_softmax", request_forward_softmax, "log"},
    {"_softmax_backward_data", request_softmax_gradient},
    {"_log_softmax_backward_data", request_softmax_gradient, "log"},
    {"native_layer_norm", request_layer_norm},
    {"relu", request_unary, "relu"},
    {"gelu", request_unary, "gelu_erf"},
    {"sigmoid", request_unary, "sigmoid"},
    {"tanh", request_unary, "tanh"},
    {"silu", request_unary, "swish"},
    {"hardswish", request_unary, "hardswish"},
    {"hardsigmoid", request_unary, "hardsigmoid"},
    {"exp", request_unary, "exp"},
    {"log", request_unary, "log"},
    {"sqrt", request_unary, "sqrt"},
    {"abs", request_unary, "abs"},
    {"square", request_unary, "square"},
    {"leaky_relu", request_leaky_relu, "leaky_relu"},
    {"elu", request_elu, "elu"},
    {"hardtanh", request_hardtanh, "clip"},
    {"clamp", request_clamp, "clip"},
    {"threshold_backward", request_unary_gradient, "relu"},
    {"gelu_backward", request_unary_gradient, "gelu_erf"},
    {"sigmoid_backward", request_unary_gradient, "sigmoid"},
    {"tanh_backward", request_unary_gradient, "tanh"},
    {"silu_backward", request_unary_gradient, "swish"},
    {"hardswish_backward", request_unary_gradient, "hardswish"},
    {"hardsigmoid_backward", request_unary_gradient, "hardsigmoid"},
    {"hardtanh_backward", request_hardtanh_gradient, "clip"},
    {"add", request_binary, "add"},
    {"sub", request_binary, "sub"},
    {"mul", request_binary, "mul"},
    {"div", request_binary, "div"},
    {"maximum", request_binary, "max"},
    {"minimum", request_binary, "min"},
    {"sum", request_reduction, "sum"},
    {"mean", request_reduction, "mean"},
    {"amax", request_reduction, "max"},
    {"amin", request_reduction, "min"},
    {"max_pool2d_with_indices", request_pool, "max"},
    {"avg_pool2d", request_pool, "avg"},
    {"embedding", request_embedding},
    {"cat", request_concat},
};

constexpr std::string_view kViews[] = {
    "_unsafe_view",      "alias",   "as_strided", "detach", "expand",    "lift_fresh_copy",
    "new_empty_strided", "permute", "reshape",    "select", "slice",     "split",
    "squeeze",           "t",       "transpose",  "unbind", "unsqueeze", "view"};

}  // namespace

Requests request_aten_call(std::string_view name, std::span<const PythonValue> arguments) {
  const auto* row = std::ranges::find(kAtenRows, name, &AtenRow::name);
  if (row == std::end(kAtenRows))
    return Error{fmt::format("no case computes the function {}", quote(name)), {}, {}};
  return row->request(arguments, *row);
}

bool is_aten_view(std::string_view name) {
  return std::ranges::find(kViews, name) != std::end(kViews);
}

}  // namespace bench
