// SPDX-License-Identifier: Apache-2.0
#include "harness/import/onnx_fold.hpp"

#include "base/checked.hpp"
#include "ops/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace bench::onnx {
namespace {

using ops::Dims;

constexpr std::string_view kNotConstant = "its shape depends on the data";

std::int64_t to_integer(double value) {
  constexpr double kLimit = 9.2e18;
  if (!(value > -kLimit)) return std::numeric_limits<std::int64_t>::min() / 2;
  if (!(value < kLimit)) return std::numeric_limits<std::int64_t>::max() / 2;
  return static_cast<std::int64_t>(value);
}

// Returns the number of elements if content is kept for as many.
std::optional<std::size_t> content_size(const Dims& dims) {
  const auto count = ops::element_count(dims);
  if (!count || *count > kMaxContent) return std::nullopt;
  return static_cast<std::size_t>(*count);
}

Error invalid_node(std::string what) { return {std::move(what), "", "export the model again"}; }

// The positions in a row-major tensor that the elements of a result come from: the sum over its
// axes of `begin + index * step`.
struct AxisWalk {
  std::int64_t count, begin, step;
};
std::vector<std::size_t> walk_positions(std::span<const AxisWalk> axes) {
  std::vector<std::size_t> positions = {0};
  for (const AxisWalk& axis : axes) {
    std::vector<std::size_t> next;
    for (const std::size_t position : positions) {
      for (std::int64_t i = 0; i < axis.count; ++i)
        next.push_back(position + static_cast<std::size_t>(axis.begin + i * axis.step));
    }
    positions = std::move(next);
  }
  return positions;
}

// The distance of neighbours along each axis.
std::vector<std::int64_t> strides_of(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  // A tensor without elements may have other sizes whose product overflows.
  for (std::size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = (Checked(strides[i]) * dims[i]).value().value_or(0);
  return strides;
}

Value take_elements(const Value& from, Dims dims, std::span<const AxisWalk> axes) {
  Value result = make_constant(from.type, std::move(dims), std::nullopt);
  if (!from.content || !content_size(result.dims)) return result;
  result.content.emplace();
  for (const std::size_t position : walk_positions(axes))
    result.content->push_back(position < from.content->size() ? (*from.content)[position] : 0);
  return result;
}

using Folded = Result<std::optional<std::vector<Value>>>;

Folded one_value(Value value) { return std::optional(std::vector<Value>{std::move(value)}); }

Folded fold_constant(const NodeView& view) {
  const Node& node = view.node;
  if (const Attribute* value = view.attribute("value"); value != nullptr && value->tensor) {
    const Tensor& tensor = *value->tensor;
    return one_value(make_constant(tensor.type, tensor.dims, tensor.content));
  }
  for (const auto& [name, attribute] : node.attributes) {
    if (name == "value_int")
      return one_value(make_constant(kInt64, {}, Content{static_cast<double>(attribute.integer)}));
    if (name == "value_float") return one_value(make_constant(kFloat, {}, Content{attribute.real}));
    if (name == "value_ints")
      return one_value(
          make_constant(kInt64, {std::ssize(attribute.integers)},
                        Content(attribute.integers.begin(), attribute.integers.end())));
    if (name == "value_floats")
      return one_value(make_constant(kFloat, {std::ssize(attribute.reals)}, attribute.reals));
  }
  return invalid_node("a Constant has no value that is read here");
}

Folded fold_shape(const NodeView& view) {
  const Dims& dims = view.input(0)->dims;
  const auto rank = std::ssize(dims);
  const auto at = [&](std::string_view name, std::int64_t otherwise) {
    const std::int64_t index = view.integer(name, otherwise);
    return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const std::int64_t begin = at("start", 0);
  const std::int64_t end = std::max(begin, at("end", rank));
  Content content(dims.begin() + begin, dims.begin() + end);
  return one_value(make_constant(kInt64, {end - begin}, std::move(content)));
}

Folded fold_size(const NodeView& view) {
  const auto count = ops::element_count(view.input(0)->dims).value_or(0);
  return one_value(make_constant(kInt64, {}, Content{static_cast<double>(count)}));
}

Folded fold_view(const NodeView& view) {
  BENCH_ASSIGN_OR_RETURN(Dims dims, view_dims(view));
  return one_value(make_constant(view.input(0)->type, std::move(dims), view.input(0)->content));
}

Folded fold_cast(const NodeView& view) {
  Value value = *view.input(0);
  value.type = static_cast<int>(view.integer("to", value.type));
  if (value.content && !is_floating(value.type)) {
    for (double& element : *value.content)
      element = value.type == kBool ? (element != 0 ? 1 : 0) : std::trunc(element);
  }
  return one_value(std::move(value));
}

Folded fold_gather(const NodeView& view) {
  const Value& data = *view.input(0);
  const auto axis = find_axis(view.integer("axis", 0), data.dims.size());
  const Value* indices = view.input(1);
  if (!axis || indices == nullptr) return invalid_node("a Gather has no such axis");
  Dims dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(*axis) + 1,
              data.dims.end());
  Value result = make_constant(data.type, dims, std::nullopt);
  const auto places = integers_of(indices);
  if (!data.content || !places || !content_size(dims)) return one_value(std::move(result));
  const std::int64_t size = data.dims[*axis];
  const std::int64_t inner = strides_of(data.dims)[*axis];
  const bool is_empty = data.content->empty() || size == 0 || inner == 0;
  const std::int64_t outer = is_empty ? 0 : std::ssize(*data.content) / (size * inner);
  result.content.emplace();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t place : *places) {
      if (place < 0) place += size;
      if (place < 0 || place >= size) return invalid_node("an index of a Gather is out of range");
      const auto first = data.content->begin() + (o * size + place) * inner;
      result.content->insert(result.content->end(), first, first + inner);
    }
  }
  return one_value(std::move(result));
}

Folded fold_concat(const NodeView& view) {
  const Value& first = *view.input(0);
  const auto axis = find_axis(view.integer("axis", 0), first.dims.size());
  if (!axis) return invalid_node("a Concat has no such axis");
  Value result = make_constant(first.type, first.dims, std::nullopt);
  Checked whole = 0;
  bool is_known = true;
  for (const Value* part : view.inputs) {
    if (part == nullptr || part->dims.size() != first.dims.size())
      return invalid_node("the inputs of a Concat have different ranks");
    for (std::size_t i = 0; i < first.dims.size(); ++i) {
      if (i != *axis && part->dims[i] != first.dims[i])
        return invalid_node("the inputs of a Concat differ in another size than that of its axis");
    }
    whole += part->dims[*axis];
    is_known = is_known && part->content.has_value();
  }
  if (!whole.value()) return invalid_node("a Concat has more than 2^63 - 1 elements");
  result.dims[*axis] = *whole.value();
  if (!is_known || !content_size(result.dims)) return one_value(std::move(result));
  const std::int64_t outer = ops::element_count(std::span(first.dims).first(*axis)).value_or(0);
  result.content.emplace();
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const Value* part : view.inputs) {
      const std::int64_t run = std::ssize(*part->content) / outer;
      const auto begin = part->content->begin() + o * run;
      result.content->insert(result.content->end(), begin, begin + run);
    }
  }
  return one_value(std::move(result));
}

Folded fold_slice(const NodeView& view) {
  const Value& data = *view.input(0);
  BENCH_ASSIGN_OR_RETURN(const auto ranges, slice_ranges(view));
  const std::vector<std::int64_t> strides = strides_of(data.dims);
  std::vector<AxisWalk> axes;
  for (std::size_t i = 0; i < data.dims.size(); ++i) axes.push_back({data.dims[i], 0, strides[i]});
  Dims dims = data.dims;
  for (const AxisRange& range : ranges) {
    dims[range.axis] = range.count;
    axes[range.axis] = {range.count, range.begin * strides[range.axis],
                        range.step * strides[range.axis]};
  }
  return one_value(take_elements(data, std::move(dims), axes));
}

Folded fold_transpose(const NodeView& view) {
  const Value& data = *view.input(0);
  BENCH_ASSIGN_OR_RETURN(const auto permutation, permutation_of(view));
  const std::vector<std::int64_t> strides = strides_of(data.dims);
  std::vector<AxisWalk> axes;
  Dims dims;
  for (const std::int64_t axis : permutation) {
    const auto from = static_cast<std::size_t>(axis);
    dims.push_back(data.dims[from]);
    axes.push_back({data.dims[from], 0, strides[from]});
  }
  return one_value(take_elements(data, std::move(dims), axes));
}

// Repeats the elements of a tensor where it has the size 1.
Value expand_constant(const Value& data, const Dims& dims) {
  const std::vector<std::int64_t> strides = strides_of(data.dims);
  const std::size_t front = dims.size() - data.dims.size();
  std::vector<AxisWalk> axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_repeated = i < front || data.dims[i - front] == 1;
    axes.push_back({dims[i], 0, is_repeated ? 0 : strides[i - front]});
  }
  return take_elements(data, dims, axes);
}

Folded fold_expand(const NodeView& view) {
  const auto shape = integers_of(view.input(1));
  if (!shape) return Error{std::string(kNotConstant), "", ""};
  const auto dims = broadcast_dims(view.input(0)->dims, *shape);
  if (!dims) return invalid_node("the shape of an Expand does not fit");
  return one_value(expand_constant(*view.input(0), *dims));
}

Folded fold_filled(const NodeView& view) {
  auto dims = integers_of(view.input(0));
  if (!dims) return Error{std::string(kNotConstant), "", ""};
  if (!ops::element_count(*dims) || std::ranges::any_of(*dims, [](auto size) { return size < 0; }))
    return invalid_node("a ConstantOfShape has an impossible shape");
  const Attribute* value = view.attribute("value");
  const bool is_given = value != nullptr && value->tensor && value->tensor->content &&
                        !value->tensor->content->empty();
  Value result = make_constant(value != nullptr && value->tensor ? value->tensor->type : kFloat,
                               *std::move(dims), std::nullopt);
  if (const auto size = content_size(result.dims))
    result.content = Content(*size, is_given ? value->tensor->content->front() : 0);
  return one_value(std::move(result));
}

Folded fold_range(const NodeView& view) {
  const auto begin = scalar_of(view.input(0));
  const auto end = scalar_of(view.input(1));
  const auto step = scalar_of(view.input(2));
  if (!begin || !end || !step || *step == 0) return Error{std::string(kNotConstant), "", ""};
  const std::int64_t count = to_integer(std::max(0.0, std::ceil((*end - *begin) / *step)));
  Value result = make_constant(view.input(0)->type, {count}, std::nullopt);
  if (count <= kMaxContent) {
    result.content.emplace();
    for (std::int64_t i = 0; i < count; ++i)
      result.content->push_back(*begin + static_cast<double>(i) * *step);
  }
  return one_value(std::move(result));
}

using Function = double (*)(double, double);

double divide(double a, double b) { return b == 0 ? 0 : a / b; }
double divide_integers(double a, double b) { return b == 0 ? 0 : std::trunc(a / b); }
double modulo(double a, double b) { return b == 0 ? 0 : a - b * std::floor(a / b); }

struct ConstantFunction {
  std::string_view op;
  Function on_reals;
  Function on_integers;
  bool is_predicate = false;
};
constexpr std::array kFunctions = {
    ConstantFunction{"Add", [](double a, double b) { return a + b; },
                     [](double a, double b) { return a + b; }},
    ConstantFunction{"Sub", [](double a, double b) { return a - b; },
                     [](double a, double b) { return a - b; }},
    ConstantFunction{"Mul", [](double a, double b) { return a * b; },
                     [](double a, double b) { return a * b; }},
    ConstantFunction{"Div", divide, divide_integers},
    ConstantFunction{"Mod", modulo, modulo},
    ConstantFunction{"Pow", [](double a, double b) { return std::pow(a, b); },
                     [](double a, double b) { return std::trunc(std::pow(a, b)); }},
    ConstantFunction{"Min", [](double a, double b) { return std::min(a, b); },
                     [](double a, double b) { return std::min(a, b); }},
    ConstantFunction{"Max", [](double a, double b) { return std::max(a, b); },
                     [](double a, double b) { return std::max(a, b); }},
    ConstantFunction{"Equal", [](double a, double b) { return double(a == b); },
                     [](double a, double b) { return double(a == b); }, true},
    ConstantFunction{"Greater", [](double a, double b) { return double(a > b); },
                     [](double a, double b) { return double(a > b); }, true},
    ConstantFunction{"GreaterOrEqual", [](double a, double b) { return double(a >= b); },
                     [](double a, double b) { return double(a >= b); }, true},
    ConstantFunction{"Less", [](double a, double b) { return double(a < b); },
                     [](double a, double b) { return double(a < b); }, true},
    ConstantFunction{"LessOrEqual", [](double a, double b) { return double(a <= b); },
                     [](double a, double b) { return double(a <= b); }, true},
    ConstantFunction{"And", [](double a, double b) { return double(a != 0 && b != 0); },
                     [](double a, double b) { return double(a != 0 && b != 0); }, true},
    ConstantFunction{"Or", [](double a, double b) { return double(a != 0 || b != 0); },
                     [](double a, double b) { return double(a != 0 || b != 0); }, true},
};

Folded fold_binary(const NodeView& view, const ConstantFunction& function) {
  Value sum = *view.input(0);
  const bool is_real = is_floating(sum.type);
  for (std::size_t i = 1; i < view.inputs.size(); ++i) {
    if (view.input(i) == nullptr) return invalid_node("an operand is missing");
    const auto dims = broadcast_dims(sum.dims, view.input(i)->dims);
    if (!dims) return invalid_node("operands do not broadcast");
    const Value left = expand_constant(sum, *dims);
    const Value right = expand_constant(*view.input(i), *dims);
    sum = make_constant(sum.type, *dims, std::nullopt);
    if (!left.content || !right.content) continue;
    sum.content.emplace();
    for (std::size_t j = 0; j < left.content->size(); ++j)
      sum.content->push_back((is_real ? function.on_reals : function.on_integers)(
          (*left.content)[j], (*right.content)[j]));
  }
  if (function.is_predicate) sum.type = kBool;
  return one_value(std::move(sum));
}

Folded fold_where(const NodeView& view) {
  const Value* condition = view.input(0);
  const Value* left = view.input(1);
  const Value* right = view.input(2);
  if (left == nullptr || right == nullptr) return invalid_node("an operand is missing");
  auto dims = broadcast_dims(left->dims, right->dims);
  if (dims) dims = broadcast_dims(*dims, condition->dims);
  if (!dims) return invalid_node("operands do not broadcast");
  const Value chosen = expand_constant(*condition, *dims);
  const Value yes = expand_constant(*left, *dims);
  const Value no = expand_constant(*right, *dims);
  Value result = make_constant(left->type, *dims, std::nullopt);
  if (!chosen.content || !yes.content || !no.content) return one_value(std::move(result));
  result.content.emplace();
  for (std::size_t i = 0; i < chosen.content->size(); ++i)
    result.content->push_back((*chosen.content)[i] != 0 ? (*yes.content)[i] : (*no.content)[i]);
  return one_value(std::move(result));
}

// Operators whose constant result has the sizes of the first input, and content that no shape
// needs.
constexpr std::string_view kSameSizes[] = {
    "Abs",
    "Acos",
    "Asin",
    "Atan",
    "Ceil",
    "Clip",
    "Cos",
    "CumSum",
    "Erf",
    "Exp",
    "Floor",
    "IsNaN",
    "IsInf",
    "LeakyRelu",
    "Log",
    "Neg",
    "Not",
    "Reciprocal",
    "Relu",
    "Round",
    "Sigmoid",
    "Sign",
    "Sin",
    "Softmax",
    "Softplus",
    "Sqrt",
    "Tan",
    "Tanh",
    "Trilu",
    "ScatterND",
    "Dropout",
    "ScatterElements",
    "LayerNormalization",
};

Folded fold_same_sizes(const NodeView& view) {
  const Value& data = *view.input(0);
  Value result = make_constant(data.type, data.dims, std::nullopt);
  if (data.content && (view.node.op == "Neg" || view.node.op == "Abs")) {
    result.content = data.content;
    for (double& element : *result.content)
      element = view.node.op == "Neg" ? -element : std::abs(element);
  }
  if (data.content && view.node.op == "Not") {
    result.content = data.content;
    for (double& element : *result.content) element = element == 0;
  }
  return one_value(std::move(result));
}

Folded fold_split(const NodeView& view) {
  const Value& data = *view.input(0);
  const auto axis = find_axis(view.integer("axis", 0), data.dims.size());
  if (!axis) return invalid_node("a Split has no such axis");
  BENCH_ASSIGN_OR_RETURN(const auto sizes, split_sizes(view, *axis));
  const std::vector<std::int64_t> strides = strides_of(data.dims);
  std::vector<Value> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    std::vector<AxisWalk> axes;
    for (std::size_t i = 0; i < data.dims.size(); ++i)
      axes.push_back({data.dims[i], 0, strides[i]});
    axes[*axis] = {size, begin * strides[*axis], strides[*axis]};
    Dims dims = data.dims;
    dims[*axis] = size;
    parts.push_back(take_elements(data, std::move(dims), axes));
    begin += size;
  }
  return std::optional(std::move(parts));
}

struct FoldRow {
  std::string_view op;
  std::size_t min_inputs;
  bool reads_shapes;  // needs only the sizes of its inputs
  Folded (*fold)(const NodeView& view);
};
constexpr std::array kFolds = {
    FoldRow{"Constant", 0, true, fold_constant},
    FoldRow{"Shape", 1, true, fold_shape},
    FoldRow{"Size", 1, true, fold_size},
    FoldRow{"Cast", 1, false, fold_cast},
    FoldRow{"CastLike", 1, false, fold_cast},
    FoldRow{"Gather", 2, false, fold_gather},
    FoldRow{"Concat", 1, false, fold_concat},
    FoldRow{"Slice", 1, false, fold_slice},
    FoldRow{"Transpose", 1, false, fold_transpose},
    FoldRow{"Expand", 2, false, fold_expand},
    FoldRow{"ConstantOfShape", 1, false, fold_filled},
    FoldRow{"Range", 3, false, fold_range},
    FoldRow{"Where", 3, false, fold_where},
    FoldRow{"Split", 1, false, fold_split},
};

}  // namespace

Value make_constant(int type, Dims dims, std::optional<Content> content) {
  Value value;
  value.type = type;
  value.source_dims = dims;
  value.dims = std::move(dims);
  value.content = std::move(content);
  return value;
}

namespace {

Folded fold_unchecked(const NodeView& view) {
  const std::string_view op = view.node.op;
  if (!view.node.domain.empty()) return std::optional<std::vector<Value>>();
  const bool are_constant = std::ranges::all_of(
      view.inputs, [](const Value* input) { return input == nullptr || input->is_constant(); });
  const bool has_first = view.input(0) != nullptr;
  const auto* row = std::ranges::find(kFolds, op, &FoldRow::op);
  if (row != kFolds.end()) {
    if (!are_constant && !row->reads_shapes) return std::optional<std::vector<Value>>();
    for (std::size_t i = 0; i < row->min_inputs; ++i)
      if (view.input(i) == nullptr) return invalid_node("an input is missing");
    return row->fold(view);
  }
  if (!are_constant || !has_first) return std::optional<std::vector<Value>>();
  const auto* function = std::ranges::find(kFunctions, op, &ConstantFunction::op);
  if (function != kFunctions.end()) return fold_binary(view, *function);
  if (is_view_operator(op)) return fold_view(view);
  if (std::ranges::find(kSameSizes, op) != std::end(kSameSizes)) return fold_same_sizes(view);
  return std::optional<std::vector<Value>>();
}

// Whether the elements of a constant are as many as its sizes say.
bool has_its_elements(const Value& value) {
  return !value.content || content_size(value.dims) == value.content->size();
}

}  // namespace

Result<std::optional<std::vector<Value>>> fold_node(const NodeView& view) {
  for (const Value* input : view.inputs) {
    if (input != nullptr && !has_its_elements(*input))
      return invalid_node("an input has not as many elements as its sizes say");
  }
  auto folded = fold_unchecked(view);
  if (folded.ok() && *folded && !std::ranges::all_of(**folded, has_its_elements))
    return invalid_node("its sizes do not fit its elements");
  return folded;
}

}  // namespace bench::onnx
