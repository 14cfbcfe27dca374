// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "dimension along which the results add up to 1, counted from 0", 0},
    {"log", "log", ParameterKind::flag, "false", "the logarithm of the results"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"elements", "prod(shape)", Quantity::Shown::no},
    // Comparison for the maximum, subtraction of the maximum, addition to the sum, division by it
    // (log: subtraction of its logarithm). The gradient y*(dy - sum(y*dy)) has as many: product,
    // addition, difference, product.
    {"flops", "4*elements", Quantity::Shown::yes, "forward or not log"},
    // The gradient dy - exp(y)*sum(dy): addition, product, difference.
    {"flops", "3*elements", Quantity::Shown::yes, "backward_data and log"},
    {"sfu_ops", "elements", Quantity::Shown::yes, "forward or log"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr FrameworkFunction kFramework[] = {
    // every axis costs the same
    {"softmax", "source"},
    {"_softmax", "source"},
    {"log_softmax", "source", "log=true"},
    {"_log_softmax", "source", "log=true"},
    {"_softmax_backward_data", "diff_destination destination", "", Direction::backward_data},
    {"_log_softmax_backward_data", "diff_destination destination", "log=true",
     Direction::backward_data},
};
constexpr std::string_view kExamples[] = {"2x1000", "2x16x9x9-a1", "2x300+log"};

// Allowed error, in roundings, of a library's exp. The sum of positive terms adds at most one
// rounding per term if the terms are added sequentially.
constexpr double kExpSteps = 64;

Tolerance tolerance(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto size =
      static_cast<double>(shape[static_cast<std::size_t>(problem.parameters.count("axis"))]);
  if (problem.direction == Direction::backward_data) {
    // The terms of the sum have random signs, so sum and error grow with the square root.
    const double steps = kExpSteps + 4 * std::sqrt(size);
    const double error = rounding_tolerance(problem.dtype, steps, 0).relative;
    return {.absolute = error * 3 * std::sqrt(size), .relative = error};
  }
  const double error = rounding_tolerance(problem.dtype, kExpSteps + size, 0).relative;
  // The logarithm turns the relative error of the sum into an absolute one.
  if (problem.parameters.flag("log")) return {.absolute = error, .relative = error};
  // Results are about 1/size, so the only absolute error is the underflow of a narrow type.
  return {.absolute = smallest_positive(problem.dtype), .relative = error};
}

}  // namespace

extern const Operator softmax_operator;
const Operator softmax_operator =
    describe({.name = "softmax",
              .help = "exponentials along one axis, divided by their sum",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections,
              .data_types = DataTypes::floating,
              .framework = kFramework},
             {.reference = softmax_reference,
              .tolerance = tolerance,
              .product = {.rule = "op-softmax",
                          .sentence = "exponentials and sums: there is no product of matrices"},
              .examples = kExamples,
              .cuda = kOnCudnn});

namespace {

// The elements that share one sum: `size` elements from `first` on that are `stride` apart.
struct SoftmaxRow {
  std::int64_t first;
  std::int64_t size;
  std::int64_t stride;
};

SoftmaxRow locate_row(const Problem& problem, std::int64_t position) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  const std::int64_t index = position / stride % shape[axis];
  return {.first = position - index * stride, .size = shape[axis], .stride = stride};
}

struct RowSum {
  double maximum = 0;
  double sum = 0;
};

// Calls visit(index of an element) along the row.
template <class Visit>
void for_each_in(const SoftmaxRow& row, Visit visit) {
  for (std::int64_t i = 0; i < row.size; ++i) {
    visit(static_cast<std::size_t>(row.first + i * row.stride));
  }
}

// The sum of exp(x - maximum), or of the gradient's terms.
RowSum sum_row(const Problem& problem, ReferenceInputs inputs, const SoftmaxRow& row) {
  RowSum result;
  if (problem.direction == Direction::backward_data) {
    const bool is_log = problem.parameters.flag("log");
    for_each_in(row, [&](std::size_t i) {
      result.sum += is_log ? inputs[1][i] : inputs[0][i] * inputs[1][i];
    });
    return result;
  }
  result.maximum = -std::numeric_limits<double>::infinity();
  for_each_in(row, [&](std::size_t i) { result.maximum = std::max(result.maximum, inputs[0][i]); });
  for_each_in(row, [&](std::size_t i) { result.sum += std::exp(inputs[0][i] - result.maximum); });
  return result;
}

double row_result(const Problem& problem, ReferenceInputs inputs, std::size_t i,
                  const RowSum& row) {
  const bool is_log = problem.parameters.flag("log");
  const double x = inputs[0][i];
  if (problem.direction == Direction::backward_data) {
    const double diff = inputs[1][i];
    return is_log ? diff - std::exp(x) * row.sum : x * (diff - row.sum);
  }
  return is_log ? x - row.maximum - std::log(row.sum) : std::exp(x - row.maximum) / row.sum;
}

}  // namespace

std::vector<double> softmax_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  std::unordered_map<std::int64_t, RowSum> sums;  // by first element; each row is summed once
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const SoftmaxRow row = locate_row(problem, position);
    auto entry = sums.find(row.first);
    if (entry == sums.end()) entry = sums.emplace(row.first, sum_row(problem, inputs, row)).first;
    return row_result(problem, inputs, static_cast<std::size_t>(position), entry->second);
  });
}

}  // namespace bench::ops
