// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

// A single shape in a case id ("relu-1x64") is parsed into `a`, the first shape of the table. For a
// unary function both names mean the same.
const std::array<Parameter, 6> kParameters = {{
    {.name = "function",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "required",
     .help = "what is computed for each element",
     .words = pointwise_function_names()},
    {.name = "a",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "optional",
     .help = "sizes of the first operand of a binary function"},
    {.name = "b",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "optional",
     .help = "sizes of the second operand, broadcast against the first"},
    {.name = "shape",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "optional",
     .help = "sizes of the operand of a unary function"},
    {.name = "alpha",
     .token = "alpha",
     .kind = ParameterKind::real,
     .fallback = "optional",
     .help = "leaky_relu: slope (0.01), elu: scale (1), swish and scale: factor (1), clip: low "
             "(0)"},
    {.name = "beta",
     .token = "beta",
     .kind = ParameterKind::real,
     .fallback = "optional",
     .help = "clip: high (6)"},
}};

constexpr std::string_view kExamples[] = {"relu-2x16x9x9",
                                          "clip-2x16x9",
                                          "gelu_erf-7",
                                          "hardswish-2x16x9x9",
                                          "hardsigmoid-2x16x9x9",
                                          "exp-2x16",
                                          "log-2x16x9x9",
                                          "square-2x16x9x9",
                                          "abs-2x3x4x5x6",
                                          "scale-4x16x9-alpha0.125",
                                          "add-2x16x9x9-2x16x9x9",
                                          "mul-2x16x9x9-16x1x1",
                                          "div-2x16x9-16x1"};

constexpr std::array<Direction, 2> kDirections = {Direction::forward, Direction::backward_data};

Error make_misplaced_error(std::string_view name, std::string_view function,
                           std::string_view expected) {
  return {.what = fmt::format("`{}` has no `{}`", function, name),
          .where = std::string(name),
          .next = std::string(expected)};
}

// Clears a coefficient that equals the function's default. Returns an error if the function does
// not read the coefficient; `default_value` is then nullopt.
Status complete_coefficient(ParameterSet& set, std::string_view name, std::string_view function,
                            std::optional<double> default_value) {
  if (!set.has(name)) return Done{};
  if (!default_value)
    return make_misplaced_error(name, function, fmt::format("leave `{}` out", name));
  if (set.real(name) == *default_value) set.set(name, std::monostate{});
  return Done{};
}

Status complete_unary(ParameterSet& set, const UnaryFunction& function) {
  if (set.has("b") || (set.has("a") && set.has("shape"))) {
    return make_misplaced_error(set.has("b") ? "b" : "a", function.name,
                                "a unary function takes only `shape`");
  }
  if (set.has("a")) {
    set.set("shape", set.value("a"));
    set.set("a", std::monostate{});
  }
  BENCH_RETURN_IF_ERROR(require(set, "shape"));
  const auto find_default = [&](int number, double value) {
    return function.coefficients >= number ? std::optional(value) : std::nullopt;
  };
  BENCH_RETURN_IF_ERROR(
      complete_coefficient(set, "alpha", function.name, find_default(1, function.alpha)));
  BENCH_RETURN_IF_ERROR(
      complete_coefficient(set, "beta", function.name, find_default(2, function.beta)));
  if (function.coefficients < 2) return Done{};
  const PointwiseCoefficients limits = pointwise_coefficients(set);
  if (limits.alpha <= limits.beta) return Done{};
  return Error{.what = fmt::format("`alpha` {} is above `beta` {}", limits.alpha, limits.beta),
               .where = "alpha",
               .next = {}};
}

Status complete_binary(ParameterSet& set, std::string_view function) {
  for (const std::string_view name : {"shape", "alpha", "beta"}) {
    if (set.has(name))
      return make_misplaced_error(name, function, "a binary function takes `a` and `b`");
  }
  BENCH_RETURN_IF_ERROR(require(set, "a"));
  BENCH_RETURN_IF_ERROR(require(set, "b"));
  if (broadcast(set.numbers("a"), set.numbers("b"))) return Done{};
  return Error{.what = fmt::format("`a` {} and `b` {} do not broadcast",
                                   join_dims(set.numbers("a")), join_dims(set.numbers("b"))),
               .where = "b",
               .next = "sizes, aligned at the last, must be equal or 1"};
}

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "function"));
  ParameterSet set = given;
  const std::string& word = given.word("function");
  const UnaryFunction* unary = find_unary_function(word);
  BENCH_RETURN_IF_ERROR(unary != nullptr ? complete_unary(set, *unary)
                                         : complete_binary(set, word));
  return set;
}

DraftFormula make_element_formula(std::string name, std::int64_t per_element,
                                  std::int64_t elements) {
  return {.name = std::move(name),
          .expression = fmt::format("{}*elements", per_element),
          .values = fmt::format("{}*{}", per_element, elements),
          .result = Checked(per_element) * elements};
}

Result<Model> finish_elementwise_model(std::vector<Tensor> tensors, ElementWork per_element) {
  const std::int64_t elements = tensors.back().touched;
  ModelDraft draft;
  draft.tensors = std::move(tensors);
  draft.flops = Checked(per_element.flops) * elements;
  draft.flops_valid = draft.flops;
  draft.sfu_ops = Checked(per_element.sfu_ops) * elements;
  draft.formulas.push_back(make_element_formula("flops", per_element.flops, elements));
  if (per_element.sfu_ops > 0) {
    draft.formulas.push_back(make_element_formula("sfu_ops", per_element.sfu_ops, elements));
  }
  return finish_model(std::move(draft), "shape");
}

Result<Model> make_unary_model(const Problem& problem, const UnaryFunction& function) {
  const bool backward = problem.direction == Direction::backward_data;
  const std::string name =
      fmt::format("{}`{}`", backward ? "backward_data of " : "", function.name);
  if (info(problem.dtype).is_integer && (backward || !function.on_integers)) {
    return undefined_for_integers(name, problem.dtype);
  }
  const Dims& shape = problem.parameters.numbers("shape");
  std::vector<Tensor> tensors;
  const auto add = [&](std::string_view tensor_name, TensorRole role) -> Status {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor,
                           make_shaped_tensor(tensor_name, role, problem.dtype, "shape", shape));
    tensors.push_back(std::move(tensor));
    return Done{};
  };
  BENCH_RETURN_IF_ERROR(add("source", TensorRole::input));
  if (backward) BENCH_RETURN_IF_ERROR(add("diff_destination", TensorRole::input));
  BENCH_RETURN_IF_ERROR(add(backward ? "diff_source" : "destination", TensorRole::output));
  return finish_elementwise_model(std::move(tensors),
                                  backward ? function.backward : function.forward);
}

Result<Model> make_binary_model(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  if (problem.direction != Direction::forward) {
    return Error{.what = fmt::format("`{}` has no direction `backward_data`", set.word("function")),
                 .where = "direction",
                 .next = "only unary functions have it"};
  }
  std::vector<Tensor> tensors;
  for (const std::string_view name : {"a", "b"}) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, make_shaped_tensor(name, TensorRole::input, problem.dtype,
                                                             name, set.numbers(name)));
    tensors.push_back(std::move(tensor));
  }
  const std::optional<Dims> dims = broadcast(set.numbers("a"), set.numbers("b"));
  BENCH_ASSIGN_OR_RETURN(Tensor destination,
                         make_shaped_tensor("destination", TensorRole::output, problem.dtype, "a",
                                            *dims));  // complete() has checked that the shapes fit
  tensors.push_back(std::move(destination));
  return finish_elementwise_model(std::move(tensors), {.flops = 1, .sfu_ops = 0});
}

Result<Model> model(const Problem& problem) {
  const UnaryFunction* unary = find_unary_function(problem.parameters.word("function"));
  return unary != nullptr ? make_unary_model(problem, *unary) : make_binary_model(problem);
}

// Allowed error, in roundings, of a vectorised exp, erf or tanh in f32. The polynomials of
// libraries reach a few units, and gelu or a derivative combines several of them.
constexpr double kSpecialFunctionSteps = 128;
constexpr double kPlainSteps = 8;  // allowed error, in roundings, of other functions

Tolerance tolerance(const Problem& problem) {
  const UnaryFunction* unary = find_unary_function(problem.parameters.word("function"));
  const bool backward = problem.direction == Direction::backward_data;
  const bool is_special =
      unary != nullptr && (backward ? unary->backward : unary->forward).sfu_ops > 0;
  // An integer quotient halfway between two values may be rounded to either.
  const double units = problem.parameters.word("function") == "div" ? 1 : 0;
  return rounding_tolerance(problem.dtype, is_special ? kSpecialFunctionSteps : kPlainSteps, units);
}

bool is_binary(const ParameterSet& set) {
  return set.has("function") && find_binary_function(set.word("function")) != nullptr;
}

Status infer_pointwise(ParameterSet& set, std::span<const Dims> inputs) {
  if (!is_binary(set)) return infer_shape(set, inputs);
  BENCH_RETURN_IF_ERROR(put_inferred(set, "a", inputs[0]));
  return put_inferred(set, "b", inputs[1]);
}

// Returns how the layer joins its producer. A broadcast addend cannot be a residual, so the layer
// stays separate.
std::optional<Join> join_pointwise(const Problem& layer) {
  const std::string& function = layer.parameters.word("function");
  if (find_unary_function(function) != nullptr) {
    const auto [alpha, beta] = pointwise_coefficients(layer.parameters);
    return Join{Join::Kind::post_op, {function, alpha, beta}};
  }
  if (function != "add" || layer.tensors[0].dims != layer.tensors[1].dims) return std::nullopt;
  return Join{Join::Kind::residual, {function}};
}

bool must_be_positive(const Problem& problem, std::size_t tensor) {
  const std::string& name = problem.parameters.word("function");
  const UnaryFunction* unary = find_unary_function(name);
  if (unary != nullptr) return tensor == 0 && unary->domain == Domain::positive;
  const BinaryFunction* binary = find_binary_function(name);
  return binary != nullptr && tensor == 1 && binary->second_domain == Domain::positive;
}

std::size_t count_pointwise_inputs(const ParameterSet& set) { return is_binary(set) ? 2 : 1; }

// The gradient of one operand of a binary function. Each problem takes the result of the one
// before.
class OperandGradient {
 public:
  OperandGradient(const Problem& layer, const Tensor& operand)
      : layer_(layer), operand_(operand), dims_(layer.output().dims) {
    step_.outputs = {"diff_" + operand.name};
  }

  // Multiplies or divides by a tensor of the layer.
  void combine(std::string_view function, std::string_view name) {
    const auto tensor = std::ranges::find(layer_.tensors, name, &Tensor::name);
    ParameterSet parameters = start(*layer_.op, function);
    parameters.set("a", dims_);
    parameters.set("b", tensor->dims);
    add(*layer_.op, std::move(parameters), {std::string(kPartialGradient), tensor->name});
  }
  // Multiplies by 1 where the tensor `larger` of the layer is above the other one, else by 0: the
  // gradient of relu at their difference. It is the first problem of a gradient.
  void keep_where_above(std::string_view larger, std::string_view other) {
    const auto dims_of = [&](std::string_view name) {
      return std::ranges::find(layer_.tensors, name, &Tensor::name)->dims;
    };
    ParameterSet difference = start(*layer_.op, "sub");
    difference.set("a", dims_of(larger));
    difference.set("b", dims_of(other));
    add(*layer_.op, std::move(difference), {std::string(larger), std::string(other)});
    ParameterSet parameters = start(*layer_.op, "relu");
    parameters.set("shape", dims_);
    add(*layer_.op, std::move(parameters), {std::string(kPartialGradient), "diff_destination"},
        Direction::backward_data);
  }
  // What the problems so far have left out of the gradient of the result.
  void keep_rest() {
    ParameterSet parameters = start(*layer_.op, "sub");
    parameters.set("a", dims_);
    parameters.set("b", dims_);
    add(*layer_.op, std::move(parameters), {"diff_destination", std::string(kPartialGradient)});
  }
  void negate() {
    ParameterSet parameters = start(*layer_.op, "scale");
    parameters.set("shape", dims_);
    parameters.set("alpha", -1.0);
    add(*layer_.op, std::move(parameters), {std::string(kPartialGradient)});
  }
  // Adds up what belongs to one element of the operand, if the operand was broadcast.
  void sum_copies() {
    const std::size_t front = dims_.size() - operand_.dims.size();
    const Dims shape = dims_;
    Dims axes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == (i < front ? 1 : operand_.dims[i - front])) continue;
      axes.push_back(static_cast<std::int64_t>(i));
      dims_[i] = 1;
    }
    if (axes.empty()) return;
    const Operator& reduction = *find_operator("reduction");
    ParameterSet parameters = start(reduction, "sum");
    parameters.set("shape", shape);
    parameters.set("axis", std::move(axes));
    add(reduction, std::move(parameters), {std::string(kPartialGradient)});
  }
  // nullopt: a problem is not defined for the data type.
  std::optional<GradientStep> take() {
    return is_defined_ ? std::optional(std::move(step_)) : std::nullopt;
  }

 private:
  static ParameterSet start(const Operator& op, std::string_view function) {
    ParameterSet parameters(op.parameters);
    parameters.set("function", std::string(function));
    return parameters;
  }
  void add(const Operator& op, ParameterSet parameters, std::vector<std::string> inputs,
           Direction direction = Direction::forward) {
    Result<Problem> problem = make_problem({.op = &op,
                                            .direction = direction,
                                            .dtype = layer_.dtype,
                                            .layout = layer_.layout,
                                            .parameters = std::move(parameters)});
    is_defined_ = is_defined_ && problem.ok();
    if (problem.ok()) step_.problems.push_back({*std::move(problem), std::move(inputs)});
  }

  const Problem& layer_;
  const Tensor& operand_;
  Dims dims_;  // sizes of the last problem's result
  GradientStep step_;
  bool is_defined_ = true;
};

// How the gradients of the operands follow from that of the result.
struct BinaryGradientRow {
  std::string_view function;
  void (*of_a)(OperandGradient& gradient);
  void (*of_b)(OperandGradient& gradient);
};
void sum_copies(OperandGradient& gradient) { gradient.sum_copies(); }
void subtract(OperandGradient& gradient) {
  gradient.sum_copies();
  gradient.negate();
}
void multiply_by_a(OperandGradient& gradient) {
  gradient.combine("mul", "a");
  gradient.sum_copies();
}
void multiply_by_b(OperandGradient& gradient) {
  gradient.combine("mul", "b");
  gradient.sum_copies();
}
void divide_by_b(OperandGradient& gradient) {
  gradient.combine("div", "b");
  gradient.sum_copies();
}
// d(a/b)/db = -(a/b)/b. The divisor is the same for all copies, so their sum is divided.
void differentiate_divisor(OperandGradient& gradient) {
  gradient.combine("mul", "destination");
  gradient.sum_copies();
  gradient.combine("div", "b");
  gradient.negate();
}
// The operand that is the result has the gradient; of equal ones, that is `b`.
void keep_where_a_is_above(OperandGradient& gradient) {
  gradient.keep_where_above("a", "b");
  gradient.sum_copies();
}
void keep_where_a_is_not_above(OperandGradient& gradient) {
  gradient.keep_where_above("a", "b");
  gradient.keep_rest();
  gradient.sum_copies();
}
void keep_where_a_is_below(OperandGradient& gradient) {
  gradient.keep_where_above("b", "a");
  gradient.sum_copies();
}
void keep_where_a_is_not_below(OperandGradient& gradient) {
  gradient.keep_where_above("b", "a");
  gradient.keep_rest();
  gradient.sum_copies();
}
constexpr BinaryGradientRow kBinaryGradients[] = {
    {"add", sum_copies, sum_copies},
    {"sub", sum_copies, subtract},
    {"mul", multiply_by_b, multiply_by_a},
    {"div", divide_by_b, differentiate_divisor},
    {"max", keep_where_a_is_above, keep_where_a_is_not_above},
    {"min", keep_where_a_is_below, keep_where_a_is_not_below},
};

// Unary functions have their own direction.
std::vector<GradientStep> gradient(const Problem& layer) {
  const auto* const row = std::ranges::find(kBinaryGradients, layer.parameters.word("function"),
                                            &BinaryGradientRow::function);
  if (row == std::end(kBinaryGradients)) return {};
  std::vector<GradientStep> steps;
  for (const auto& [operand, differentiate] :
       {std::pair(0u, row->of_a), std::pair(1u, row->of_b)}) {
    OperandGradient operand_gradient(layer, layer.tensors[operand]);
    differentiate(operand_gradient);
    if (auto step = operand_gradient.take()) steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace

PointwiseCoefficients pointwise_coefficients(const ParameterSet& complete) {
  const UnaryFunction* function = find_unary_function(complete.word("function"));
  if (function == nullptr) return {};
  return {.alpha = complete.has("alpha") ? complete.real("alpha") : function->alpha,
          .beta = complete.has("beta") ? complete.real("beta") : function->beta};
}

std::optional<Dims> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims result(a.begin(), a.end());
  const std::size_t front = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& size = result[front + i];
    if (size != b[i] && size != 1 && b[i] != 1) return std::nullopt;
    if (size == 1) size = b[i];
  }
  return result;
}

extern const Operator pointwise_operator;
const Operator pointwise_operator = {
    .name = "pointwise",
    .help = "a function of each element: unary, or binary with broadcast",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = pointwise_reference,
    .tolerance = tolerance,
    .inference = {count_pointwise_inputs, infer_pointwise},
    .joining = {.join = join_pointwise},
    .filling = {.is_positive = must_be_positive},
    .gradient = gradient,
    .product = {.rule = "op-pointwise", .sentence = "one element at a time: there is no product"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
