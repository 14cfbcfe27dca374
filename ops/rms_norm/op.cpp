// SPDX-License-Identifier: Apache-2.0
// The operator rms_norm (Zhang and Sennrich, arXiv 1910.07467): each group of elements, those of
// the dimensions from `axis` on, is divided by the root of its mean square.
//   destination = scale*source/sqrt(mean(source^2) + epsilon)
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>
#include <unordered_map>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "first normalised dimension, counted from 0; those behind it are normalised with it", 0},
    // The default of Llama's networks.
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the mean square, above 0",
     .above = 0},
    {"scale", "noscale", ParameterKind::flag, "true",
     "multiplies by one value per normalised element"},
};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"groups", "prod(shape[:axis])", Quantity::Shown::no},
    {"size", "prod(shape[axis:])", Quantity::Shown::no},
    {"elements", "groups*size"},
    // Square and sum, then the quotient.
    {"flops", "{2 + 1 + scale}*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"scale", TensorRole::weights, "shape[axis:]", ElementType::statistic, "scale"},
    {"destination", TensorRole::output, "shape"},
};
constexpr FrameworkFunction kFramework[] = {{"rms_norm", "source _ scale"}};
constexpr std::string_view kExamples[] = {"16x768", "2x16x9x9-a1", "4x40+noscale",
                                          "3x8x20-a1eps0.001"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  const double epsilon = problem.parameters.real("epsilon");
  const bool has_scale = problem.parameters.flag("scale");
  std::unordered_map<std::size_t, double> roots;  // by group; each is computed once
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const auto [entry, is_new] = roots.try_emplace(index / size, 0.0);
    if (is_new) {
      double squares = 0;
      for (const double x : std::span(inputs[0]).subspan(index / size * size, size)) {
        squares += x * x;
      }
      entry->second = std::sqrt(squares / static_cast<double>(size) + epsilon);
    }
    return inputs[0][index] / entry->second * (has_scale ? inputs[1][index % size] : 1);
  });
}

// Roundings that the tolerance allows: square, root, quotient and product, and those of the sum,
// which are n positive terms and so n/2 times a rounding at most, in any order much less.
Tolerance tolerance(const Problem& problem) {
  const auto size = static_cast<double>(quantity(problem, "size"));
  return rounding_tolerance(problem.dtype, 16 + 4 * std::sqrt(size), 0);
}

}  // namespace

extern const Operator rms_norm_operator;
const Operator rms_norm_operator =
    describe({.name = "rms_norm",
              .help = "division of trailing dimensions by the root of their own mean square",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .data_types = DataTypes::floating,
              .framework = kFramework},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-rms-norm",
                          .sentence = "squares, and one factor per element: there is no product of "
                                      "matrices"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
