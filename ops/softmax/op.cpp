// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/softmax/softmax.hpp"

#include <cmath>
#include <cstddef>

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

}  // namespace bench::ops
