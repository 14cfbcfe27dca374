// SPDX-License-Identifier: Apache-2.0
// The operator reduction: one value from all elements along some axes. The reduced axes remain,
// with the size 1. backward_data of a sum or a mean: each element has the gradient of its result,
// for a mean divided by the number of elements.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"sum", "mean", "max", "min", "prod", "l1", "l2"};

constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired,
     "l1: sum of absolute values; l2: root of the sum of squares", 1, kFunctions},
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::shape, "last",
     "the axes that are reduced, counted from 0, in ascending order", 0},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"forward or function == 'sum' or function == 'mean'", "function",
     "only the functions sum and mean have a direction `backward_data`"},
    {"ascending(axis) and axis[-1] < rank(shape)", "axis",
     "`axis` is {axis}, expected ascending axes of the shape {shape}, from 0 to {rank(shape) - 1}"},
};
constexpr Quantity kQuantities[] = {
    {"outputs", "prod(reduced(shape, axis))", Quantity::Shown::no},
    {"size", "prod(only(shape, axis))", Quantity::Shown::no},
    {"flops", "outputs*(size - 1)", Quantity::Shown::yes,
     "forward and (function == 'sum' or function == 'max' or function == 'min' or function == "
     "'prod')"},
    // The quotient.
    {"flops", "outputs*size", Quantity::Shown::yes, "forward and function == 'mean'"},
    {"flops", "0", Quantity::Shown::yes, "backward_data and function == 'sum'"},
    {"flops", "outputs", Quantity::Shown::yes, "backward_data and function == 'mean'"},
    // An absolute value or a square of each element.
    {"flops", "outputs*(2*size - 1)", Quantity::Shown::yes, "function == 'l1' or function == 'l2'"},
    {"sfu_ops", "outputs", Quantity::Shown::yes, "function == 'l2'"},  // the root
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kResult = "reduced(shape, axis)";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, kResult, kOfCase, "backward_data"},
    {"destination", TensorRole::output, kResult, kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {
    "sum-2x16x9x9", "mean-2x16x9x9-a2x3", "max-7x300-a0",        "min-2x3x4x5x6-a1x3",
    "prod-4x40",    "l1-16x65",           "l2-2x16x9x9-a0x1x2x3"};

// Calls visit(index in the source) for each element that the output at `position` reduces, in
// row-major order.
template <class Visit>
void for_each_element(const Dims& shape, const Dims& axes, std::int64_t position, Visit visit) {
  struct Axis {
    std::int64_t size, stride;
  };
  std::vector<Axis> reduced;
  std::int64_t first = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end()) {
      reduced.insert(reduced.begin(), {shape[axis], stride});
    } else {
      first += position % shape[axis] * stride;
      position /= shape[axis];
    }
    stride *= shape[axis];
  }
  const auto visit_from = [&](const auto& self, std::size_t axis, std::int64_t index) -> void {
    if (axis == reduced.size()) return visit(static_cast<std::size_t>(index));
    for (std::int64_t i = 0; i < reduced[axis].size; ++i) {
      self(self, axis + 1, index + i * reduced[axis].stride);
    }
  };
  visit_from(visit_from, 0, first);
}

// Returns the number of the output that reduces the element of the source at `position`.
std::int64_t find_output(const Dims& shape, const Dims& axes, std::int64_t position) {
  std::int64_t output = 0;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::int64_t index = position % shape[axis];
    position /= shape[axis];
    if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end()) continue;
    output += index * stride;
    stride *= shape[axis];
  }
  return output;
}

// How a function combines the elements: from `start`, then finish(result, number of elements).
struct FunctionRow {
  std::string_view name;
  double start;
  double (*add)(double result, double element);
  double (*finish)(double result, double count);
};
double unchanged(double result, double) { return result; }
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr FunctionRow kRows[] = {
    {"sum", 0, [](double a, double x) { return a + x; }, unchanged},
    {"mean", 0, [](double a, double x) { return a + x; }, [](double a, double n) { return a / n; }},
    {"max", -kInfinity, [](double a, double x) { return std::max(a, x); }, unchanged},
    {"min", kInfinity, [](double a, double x) { return std::min(a, x); }, unchanged},
    {"prod", 1, [](double a, double x) { return a * x; }, unchanged},
    {"l1", 0, [](double a, double x) { return a + std::abs(x); }, unchanged},
    {"l2", 0, [](double a, double x) { return a + x * x; },
     [](double a, double) { return std::sqrt(a); }},
};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Dims& shape = problem.parameters.numbers("shape");
  const Dims& axes = problem.parameters.numbers("axis");
  const auto& row =
      *std::ranges::find(kRows, problem.parameters.word("function"), &FunctionRow::name);
  const auto size = static_cast<double>(quantity(problem, "size"));
  const std::int64_t elements = problem.output().elements();
  if (problem.direction == Direction::backward_data) {
    return evaluate(elements, positions, [&](std::int64_t position) {
      const auto output = static_cast<std::size_t>(find_output(shape, axes, position));
      return row.finish(inputs[0][output], size);  // linear in the elements, as is its gradient
    });
  }
  return evaluate(elements, positions, [&](std::int64_t position) {
    double result = row.start;
    for_each_element(shape, axes, position,
                     [&](std::size_t index) { result = row.add(result, inputs[0][index]); });
    return row.finish(result, size);
  });
}

// Inputs are uniform in [-1, 1], those of a product in [0.5, 1.5] (ops/fill.hpp). The signs of n
// roundings are random, so together they count as the square root of n; the tolerance is 4 times
// this sum. A sum of values with random signs is of order sqrt(n) itself, and may be near 0.
Tolerance tolerance(const Problem& problem) {
  const std::string& function = problem.parameters.word("function");
  if (function == "max" || function == "min") return {};
  const auto size = static_cast<double>(quantity(problem, "size"));
  constexpr double kSteps = 8;
  if (problem.direction == Direction::backward_data) {
    if (function == "sum") return {};
    return {.absolute = smallest_positive(problem.dtype),
            .relative = rounding_tolerance(problem.dtype, kSteps, 0).relative};
  }
  const Tolerance relative = rounding_tolerance(problem.dtype, kSteps + 4 * std::sqrt(size), 0);
  if (function == "sum" || function == "mean") {
    const double magnitude = std::sqrt(size) / (function == "mean" ? size : 1);
    return {.absolute = relative.absolute * magnitude, .relative = relative.relative};
  }
  return {.absolute = smallest_positive(problem.dtype), .relative = relative.relative};
}

// Returns a problem that is one of a gradient, which reads the tensors `inputs` of the layer.
// nullopt: it is not defined for the data type.
std::optional<GradientProblem> make_gradient_problem(const Problem& layer, const Operator& op,
                                                     Direction direction, ParameterSet parameters,
                                                     std::vector<std::string> inputs) {
  Result<Problem> problem = make_problem({.op = &op,
                                          .direction = direction,
                                          .dtype = layer.dtype,
                                          .layout = layer.layout,
                                          .parameters = std::move(parameters)});
  if (!problem) return std::nullopt;
  return GradientProblem{*std::move(problem), std::move(inputs)};
}

// The gradient of a norm. l1: the sign of each element times that of its result, which abs
// computes. l2: each element times the quotient of the result's gradient and the result. It is not
// defined where all elements of a result are 0.
std::vector<GradientStep> gradient(const Problem& layer) {
  const std::string& function = layer.parameters.word("function");
  const Dims& shape = layer.tensors[0].dims;
  const Dims& result = layer.output().dims;
  const Operator& pointwise = *find_operator("pointwise");
  const std::string partial(kPartialGradient);
  std::array<std::optional<GradientProblem>, 2> problems;
  if (function == "l1") {
    ParameterSet sum = layer.parameters;
    sum.set("function", std::string("sum"));
    problems[0] = make_gradient_problem(layer, *layer.op, Direction::backward_data, std::move(sum),
                                        {"diff_destination"});
    ParameterSet sign(pointwise.parameters);
    sign.set("function", std::string("abs"));
    sign.set("shape", shape);
    problems[1] = make_gradient_problem(layer, pointwise, Direction::backward_data, std::move(sign),
                                        {"source", partial});
  } else if (function == "l2") {
    ParameterSet quotient(pointwise.parameters);
    quotient.set("function", std::string("div"));
    quotient.set("a", result);
    quotient.set("b", result);
    problems[0] = make_gradient_problem(layer, pointwise, Direction::forward, std::move(quotient),
                                        {"diff_destination", "destination"});
    ParameterSet product(pointwise.parameters);
    product.set("function", std::string("mul"));
    product.set("a", shape);
    product.set("b", result);
    problems[1] = make_gradient_problem(layer, pointwise, Direction::forward, std::move(product),
                                        {"source", partial});
  }
  GradientStep step{.problems = {}, .outputs = {"diff_source"}};
  for (std::optional<GradientProblem>& problem : problems) {
    if (!problem) return {};
    step.problems.push_back(*std::move(problem));
  }
  return {std::move(step)};
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return tensor == 0 && problem.parameters.word("function") == "prod";
}

// oneDNN 3.2 reduces other axes than the last ones by its reference implementation.
constexpr std::string_view kBackends[] = {"native", "onednn"};

}  // namespace

extern const Operator reduction_operator;
const Operator reduction_operator = describe(
    {.name = "reduction",
     .help = "one value from all elements along some axes: sum, mean, maximum, norm",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .filling = {.is_positive = is_positive},
     .gradient = gradient,
     .product = {.rule = "op-reduction", .sentence = "sums: nothing is multiplied in pairs"},
     .examples = kExamples,
     .cpu = kBackends,
     .cuda = kOnCudnn});

}  // namespace bench::ops
