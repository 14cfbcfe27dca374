// SPDX-License-Identifier: Apache-2.0
// The operator optimizer: one step over all parameters of a network, as one contiguous array.
//   sgd    p - rate*g; with momentum: b = momentum*b + g, p - rate*b
//   adam   m = m + (g - m)*(1 - beta1), v = v*beta2 + g*g*(1 - beta2),
//          p - rate*m'/(sqrt(v') + epsilon), where ' is divided by its bias correction
//   adamw  as adam, of p*(1 - rate*decay)
// Frameworks update in place. Here the results are tensors of their own: with 10^6 repetitions in
// place, the numbers would leave the range of narrow types. The bytes are the same.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/optimizer/optimizer.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"sgd", "adam", "adamw"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired,
     "the rule; all results are written to tensors of their own, not in place", 1, kFunctions},
    {"elements", "e", ParameterKind::count, kRequired, "learned parameters"},
    {"momentum", "m", ParameterKind::real, "0", "sgd: factor of the buffer; 0: there is none"},
    {"weight_decay", "decay", ParameterKind::flag, "false",
     "sgd, adam: adds 0.01 of the parameters to the gradient; adamw has its own decay"},
};
constexpr Requirement kRequirements[] = {
    {"momentum >= 0", "momentum", "`momentum` is negative, expected 0 or more"},
    {"momentum == 0 or function == 'sgd'", "momentum", "{function} takes no `momentum`",
     "leave it out, or use sgd"},
    {"not weight_decay or function != 'adamw'", "weight_decay",
     "adamw has its own decay and takes no `weight_decay`", "leave it out"},
};
constexpr Quantity kQuantities[] = {
    // Product with the rate and difference; 2 more for momentum, 2 for the decay.
    {"flops", "{2 + 2*momentum + 2*weight_decay}*elements", Quantity::Shown::yes,
     "function == 'sgd'"},
    // First moment 3 (difference, product, sum), second 4 (3 products, sum), divisor 2 (product,
    // sum), result 3 (quotient, product, difference); decay 2, that of adamw 1.
    {"flops", "{3 + 4 + 2 + 3 + 2*weight_decay + (function == 'adamw')}*elements",
     Quantity::Shown::yes, "function != 'sgd'"},
    {"sfu_ops", "elements", Quantity::Shown::yes, "function != 'sgd'"},  // the root
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"parameters", TensorRole::input, "[elements]"},
    {"gradient", TensorRole::input, "[elements]"},
    {"buffer", TensorRole::input, "[elements]", kOfCase, "momentum"},
    {"first_moment", TensorRole::input, "[elements]", kOfCase, "function != 'sgd'"},
    {"second_moment", TensorRole::input, "[elements]", kOfCase, "function != 'sgd'"},
    {"new_parameters", TensorRole::output, "[elements]"},
    {"new_buffer", TensorRole::output, "[elements]", kOfCase, "momentum"},
    {"new_first_moment", TensorRole::output, "[elements]", kOfCase, "function != 'sgd'"},
    {"new_second_moment", TensorRole::output, "[elements]", kOfCase, "function != 'sgd'"},
};
constexpr std::string_view kExamples[] = {"sgd-e1000", "sgd-e1000m0.9+decay", "adam-e1000",
                                          "adam-e37+decay", "adamw-e1000"};

struct Stepped {
  double parameter, first, second;
};

Stepped step_sgd(double p, double g, double buffer, double momentum) {
  const double direction = momentum * buffer + g;
  return {p - kLearningRate * direction, direction, 0};
}

Stepped step_adam(double p, double g, double m, double v) {
  const double first = kBeta1 * m + (1 - kBeta1) * g;
  const double second = kBeta2 * v + (1 - kBeta2) * g * g;
  const double root = std::sqrt(second / kBiasCorrection2) + kOptimizerEpsilon;
  return {p - kLearningRate * (first / kBiasCorrection1) / root, first, second};
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const std::string& function = problem.parameters.word("function");
  const double momentum = problem.parameters.real("momentum");
  const double decay = problem.parameters.flag("weight_decay") ? kWeightDecay : 0;
  return evaluate(problem.tensors[0].elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const auto state = [&](std::size_t k) { return k < inputs.size() ? inputs[k][i] : 0.0; };
    double p = inputs[0][i];
    const double g = inputs[1][i] + decay * p;
    if (function == "adamw") p -= kLearningRate * kWeightDecay * p;
    const Stepped result = function == "sgd" ? step_sgd(p, g, state(2), momentum)
                                             : step_adam(p, g, state(2), state(3));
    return output == 0 ? result.parameter : output == 1 ? result.first : result.second;
  });
}

Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, 16, 0); }

// Roots are taken of the second moment.
bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "second_moment";
}

}  // namespace

extern const Operator optimizer_operator;
const Operator optimizer_operator =
    describe({.name = "optimizer",
              .help = "one step of an optimizer over the parameters of a network",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "elements",
              .data_types = DataTypes::floating},
             {.reference = reference,
              .tolerance = tolerance,
              .filling = {.is_positive = is_positive},
              .product = {.rule = "op-optimizer",
                          .sentence = "one element at a time: there is no product of matrices"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
