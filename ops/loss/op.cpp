// SPDX-License-Identifier: Apache-2.0
// The operator loss. softmax_cross_entropy has one loss per row, as PyTorch's cross_entropy with
// `reduction='none'`, and its gradient with respect to the logits x:
//   loss = log(sum(exp(x))) - x[label]
//   dx = (softmax(x) - 1 at the label)*dloss
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"softmax_cross_entropy"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired,
     "the loss; softmax_cross_entropy: one per row, as PyTorch's `reduction='none'`", 1,
     kFunctions},
    {"batch", "b", ParameterKind::count, kRequired, "rows (samples, or words of a text)"},
    {"classes", "c", ParameterKind::count, kRequired, "elements of a row (the vocabulary)"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"classes <= 2147483647", "classes",
     "`classes` is {classes}, labels (s32) name 2147483647 at most"},
};
constexpr Quantity kQuantities[] = {
    // Per element a comparison for the maximum, its subtraction, and an addition to the sum; per
    // row the addition of the logarithm and the subtraction of the label's element.
    {"flops", "batch*(3*classes + 2)", Quantity::Shown::yes, "forward"},
    {"sfu_ops", "batch*(classes + 1)", Quantity::Shown::yes, "forward"},
    // A product more per element; per row the quotient of dloss and the sum, and the difference at
    // the label.
    {"flops", "batch*(4*classes + 2)", Quantity::Shown::yes, "backward_data"},
    {"sfu_ops", "batch*classes", Quantity::Shown::yes, "backward_data"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[batch, classes]"},
    {"labels", TensorRole::input, "[batch]", ElementType::index, {}, {}, "classes"},
    {"diff_destination", TensorRole::input, "[batch]", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "[batch]", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "[batch, classes]", kOfCase, "backward_data"},
};
// PyTorch's mean over the rows, its default, adds one addition per row.
constexpr FrameworkFunction kFramework[] = {
    {"cross_entropy_loss", "source labels", "function=softmax_cross_entropy"}};
constexpr std::string_view kExamples[] = {"softmax_cross_entropy-b16c1000",
                                          "softmax_cross_entropy-b3c33"};

struct RowSum {
  double maximum = 0, sum = 0;
};

RowSum sum_row(std::span<const double> row) {
  RowSum result{*std::ranges::max_element(row), 0};
  for (const double x : row) result.sum += std::exp(x - result.maximum);
  return result;
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto classes = static_cast<std::size_t>(problem.parameters.count("classes"));
  const bool is_forward = problem.direction == Direction::forward;
  std::unordered_map<std::size_t, RowSum> sums;  // each row is summed once
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const std::size_t row = is_forward ? i : i / classes;
    const auto source = std::span(inputs[0]).subspan(row * classes, classes);
    const auto label = static_cast<std::size_t>(inputs[1][row]);
    auto entry = sums.find(row);
    if (entry == sums.end()) entry = sums.emplace(row, sum_row(source)).first;
    const auto& [maximum, sum] = entry->second;
    if (is_forward) return std::log(sum) + maximum - source[label];
    const double probability = std::exp(source[i % classes] - maximum) / sum;
    return (probability - (i % classes == label ? 1 : 0)) * inputs[2][row];
  });
}

// Allowed error, in roundings, of exp and log; the roundings of a sum have random signs.
Tolerance tolerance(const Problem& problem) {
  constexpr double kExpSteps = 64;
  const auto classes = static_cast<double>(problem.parameters.count("classes"));
  const double steps = kExpSteps + 4 * std::sqrt(classes);
  const double error = rounding_tolerance(problem.dtype, steps, 0).relative;
  // The logarithm turns the relative error of the sum into an absolute one.
  if (problem.direction == Direction::forward) return {.absolute = error, .relative = error};
  return {.absolute = smallest_positive(problem.dtype), .relative = error};
}

}  // namespace

extern const Operator loss_operator;
const Operator loss_operator =
    describe({.name = "loss",
              .help = "the loss of each row and its gradient: softmax with cross-entropy",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "batch",
              .directions = kDirections,
              .data_types = DataTypes::floating,
              .framework = kFramework},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-loss",
                          .sentence = "exponentials and sums: there is no product of matrices"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
