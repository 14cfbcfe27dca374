// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm: each group of elements, those of the dimensions from `axis` on, is
// normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Scale and shift are f32 (f64 for f64), as libraries keep them.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "first normalised dimension, counted from 0; those behind it are normalised with it", 0},
    // The default is that of PyTorch and ONNX.
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the variance, above 0",
     .above = 0},
    {"scale", "noscale", ParameterKind::flag, "true",
     "multiplies by one value per normalised element"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per normalised element"},
};
constexpr Requirement kRequirements[] = {
    {"axis < rank(shape)", "axis",
     "`axis` is {axis}, the shape {shape} has the axes 0 to {rank(shape) - 1}"},
};
constexpr Quantity kQuantities[] = {
    {"groups", "prod(shape[:axis])", Quantity::Shown::no},
    {"size", "prod(shape[axis:])", Quantity::Shown::no},
    {"elements", "groups*size"},
    // The statistics: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"scale", TensorRole::weights, "shape[axis:]", ElementType::statistic, "scale"},
    {"shift", TensorRole::weights, "shape[axis:]", ElementType::statistic, "shift"},
    {"destination", TensorRole::output, "shape"},
};
// The list normalized_shape is not recorded, but the shape of the weights is. Without weights, the
// axis does not change the work. Epsilon stays unknown.
constexpr FrameworkFunction kFramework[] = {
    {"layer_norm", "source _ scale shift"},
    {"native_layer_norm", "source _ scale shift"},
};
constexpr std::string_view kExamples[] = {"16x768", "2x16x9x9-a1", "4x40+noscale",
                                          "3x8x20-a1eps0.001+noscale+noshift"};

struct GroupStatistics {
  double mean;
  double standard_deviation;
};

// Uses two passes, so that the squares of the differences lose no precision if the mean is large.
GroupStatistics compute_statistics(std::span<const double> group, double epsilon) {
  double sum = 0;
  for (const double value : group) sum += value;
  const double mean = sum / static_cast<double>(group.size());
  double squares = 0;
  for (const double value : group) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / static_cast<double>(group.size()) + epsilon)};
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  const double epsilon = problem.parameters.real("epsilon");
  const bool has_scale = problem.parameters.flag("scale");
  const bool has_shift = problem.parameters.flag("shift");
  // By group. The statistics of each group are computed once.
  std::unordered_map<std::size_t, GroupStatistics> group_statistics;
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const std::size_t group = index / size;
    auto entry = group_statistics.find(group);
    if (entry == group_statistics.end()) {
      const auto values = std::span(inputs[0]).subspan(group * size, size);
      entry = group_statistics.emplace(group, compute_statistics(values, epsilon)).first;
    }
    double value = (inputs[0][index] - entry->second.mean) / entry->second.standard_deviation;
    if (has_scale) value *= inputs[1][index % size];
    if (has_shift) value += inputs[has_scale ? 2 : 1][index % size];
    return value;
  });
}

// Roundings that the tolerance allows: difference, root, quotient, product and sum, each on
// operands of order 1, and those of the two sums. The signs of n roundings in a sum are random, so
// together they count as the square root of n.
constexpr double kRoundings = 32;
// Groups of this size and above have a variance near 1/3, that of the inputs (ops/fill.hpp). The
// elements of a smaller group may be almost equal. Its quotient then enlarges the error of the
// difference, up to a limit that epsilon determines.
constexpr std::int64_t kLargeGroup = 64;

Tolerance tolerance(const Problem& problem) {
  const std::int64_t size = quantity(problem, "size");
  const double epsilon = problem.parameters.real("epsilon");
  const double error_factor = size >= kLargeGroup ? 2 : 1 / std::sqrt(std::min(1.0, epsilon));
  const double roundings = kRoundings + 4 * std::sqrt(static_cast<double>(size));
  return rounding_tolerance(problem.dtype, roundings * error_factor, 0);
}

}  // namespace

extern const Operator layer_norm_operator;
const Operator layer_norm_operator = describe(
    {.name = "layer_norm",
     .help = "normalisation of trailing dimensions by their own mean and variance",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .data_types = DataTypes::floating,
     .framework = kFramework},
    {.reference = reference,
     .tolerance = tolerance,
     .product = {.rule = "op-layer-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cuda = kOnCudnn});

}  // namespace bench::ops
