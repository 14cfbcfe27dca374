// SPDX-License-Identifier: Apache-2.0
// The operator group_norm (Wu and He, arXiv 1803.08494): the channels of each image are divided
// into groups, and each group is normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Scale and shift have one value per channel.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"n", "n", ParameterKind::count, "1", "images"},
    {"c", "c", ParameterKind::count, kRequired, "channels"},
    {"d", "d", ParameterKind::count, kOptional, "depth (3-D)"},
    {"h", "h", ParameterKind::count, "like d", "height (2-D and 3-D)"},
    {"w", "w", ParameterKind::count, "like h", "width"},
    {"groups", "g", ParameterKind::count, kRequired, "groups of channels; divides `c`"},
    // The default of PyTorch and ONNX.
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the variance, above 0",
     .above = 0},
    {"scale", "noscale", ParameterKind::flag, "true", "multiplies by one value per channel"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per channel"},
};
constexpr Requirement kRequirements[] = {
    {"c/groups*groups == c", "groups", "`groups` is {groups}, which does not divide {c} channels"},
};
constexpr Quantity kQuantities[] = {
    {"volume", "prod([d, h, w])", Quantity::Shown::no},
    {"size", "c/groups*volume", Quantity::Shown::no},
    {"elements", "prod([n, c, d, h, w])", Quantity::Shown::no},
    // As layer_norm: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[n, c, d, h, w]"},
    {"scale", TensorRole::weights, "[c]", ElementType::statistic, "scale"},
    {"shift", TensorRole::weights, "[c]", ElementType::statistic, "shift"},
    {"destination", TensorRole::output, "[n, c, d, h, w]"},
};
constexpr std::string_view kExamples[] = {"n2c16h9g4", "n2c6w9g3+noshift", "c8d3h4g1",
                                          "n2c4h5g4+noscale+noshift"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const ParameterSet& set = problem.parameters;
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  const auto volume = static_cast<std::size_t>(quantity(problem, "volume"));
  const auto channels = static_cast<std::size_t>(set.count("c"));
  std::vector<double> means, deviations;  // one for each group of each image, in two passes
  for (std::size_t first = 0; first < inputs[0].size(); first += size) {
    const auto group = std::span(inputs[0]).subspan(first, size);
    double sum = 0, squares = 0;
    for (const double x : group) sum += x;
    means.push_back(sum / static_cast<double>(size));
    for (const double x : group) squares += (x - means.back()) * (x - means.back());
    deviations.push_back(std::sqrt(squares / static_cast<double>(size) + set.real("epsilon")));
  }
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const std::size_t channel = index / volume % channels;
    double value = (inputs[0][index] - means[index / size]) / deviations[index / size];
    if (set.flag("scale")) value *= inputs[1][channel];
    if (set.flag("shift")) value += inputs[set.flag("scale") ? 2 : 1][channel];
    return value;
  });
}

// As of layer_norm (ops/layer_norm/op.cpp): elements of a small group may be almost equal.
Tolerance tolerance(const Problem& problem) {
  const auto size = static_cast<double>(quantity(problem, "size"));
  const double epsilon = problem.parameters.real("epsilon");
  const double error_factor = size >= 64 ? 2 : 1 / std::sqrt(epsilon < 1 ? epsilon : 1);
  return rounding_tolerance(problem.dtype, (32 + 4 * std::sqrt(size)) * error_factor, 0);
}

}  // namespace

extern const Operator group_norm_operator;
const Operator group_norm_operator = describe(
    {.name = "group_norm",
     .help = "normalisation of groups of channels by their own mean and variance",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "c",
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .inference = kImageInference,
     .product = {.rule = "op-group-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cpu = Operator::kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
