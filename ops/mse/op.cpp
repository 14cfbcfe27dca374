// SPDX-License-Identifier: Apache-2.0
// The operator mse: the mean of squared errors of each row, and its gradient.
//   loss = mean((source - target)^2)
//   diff_source = 2*(source - target)/size * diff_destination
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"batch", "b", ParameterKind::count, kRequired, "rows; 1 for the mean over all elements"},
    {"size", "s", ParameterKind::count, kRequired, "elements of a row"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Quantity kQuantities[] = {
    // Per element a difference, a square and a sum; one sum less and one quotient more per row.
    {"flops", "3*batch*size", Quantity::Shown::yes, "forward"},
    // Per element a difference and a product; per row the factor.
    {"flops", "batch*(2*size + 2)", Quantity::Shown::yes, "backward_data"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[batch, size]"},
    {"target", TensorRole::input, "[batch, size]"},
    {"diff_destination", TensorRole::input, "[batch]", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "[batch]", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "[batch, size]", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"b16s1000", "b3s33", "b1s4097"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto size = static_cast<std::size_t>(problem.parameters.count("size"));
  const auto error = [&](std::size_t i) { return inputs[0][i] - inputs[1][i]; };
  return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
    const auto at = static_cast<std::size_t>(position);
    if (problem.direction != Direction::forward) {
      return 2 * error(at) / static_cast<double>(size) * inputs[2][at / size];
    }
    double sum = 0;
    for (std::size_t i = at * size; i < (at + 1) * size; ++i) sum += error(i) * error(i);
    return sum / static_cast<double>(size);
  });
}

// The roundings of a sum have random signs.
Tolerance tolerance(const Problem& problem) {
  const auto size = static_cast<double>(problem.parameters.count("size"));
  const bool is_forward = problem.direction == Direction::forward;
  Tolerance allowed =
      rounding_tolerance(problem.dtype, is_forward ? 16 + 4 * std::sqrt(size) : 16, 0);
  if (!is_forward) allowed.absolute = allowed.absolute / size + smallest_positive(problem.dtype);
  return allowed;
}

}  // namespace

extern const Operator mse_operator;
const Operator mse_operator = describe(
    {.name = "mse",
     .help = "the mean of squared errors of each row, and its gradient",
     .parameters = kParameters,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "batch",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .product = {.rule = "op-mse", .sentence = "squares and sums: there is no product of matrices"},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
