// SPDX-License-Identifier: Apache-2.0
// The operator scatter_add: rows are added to the rows of a table that indices name, as torch's
// index_add, and scatter_add with an index per row.
//   destination[r] = source[r] + sum of updates[i] over all i with indices[i] = r
// The gradient of the updates is diff_destination[indices]; that of the source is diff_destination.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"rows", "r", ParameterKind::count, kRequired, "rows of the table"},
    {"dim", "d", ParameterKind::count, "1", "elements of a row"},
    {"indices", "i", ParameterKind::count, kRequired,
     "rows that are added; no index repeats until all rows were named"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {kIndexableRows};
constexpr Quantity kQuantities[] = {
    {"flops", "indices*dim", Quantity::Shown::yes, "forward"},
    // The indices do not repeat before each row was named (ops/fill.hpp), so this is exact.
    {"rows_read", "min(rows, indices)", Quantity::Shown::yes, "backward_data"},
    {"flops", "0", Quantity::Shown::yes, "backward_data"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[rows, dim]", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, "[rows, dim]", kOfCase, "backward_data",
     "rows_read*dim"},
    {"indices", TensorRole::input, "[indices]", ElementType::index, {}, {}, "rows"},
    {"updates", TensorRole::input, "[indices, dim]", kOfCase, "forward"},
    {"destination", TensorRole::output, "[rows, dim]", kOfCase, "forward"},
    {"diff_updates", TensorRole::output, "[indices, dim]", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"r1000d64i128", "r7d33i40", "r500i900"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto dim = static_cast<std::size_t>(problem.parameters.count("dim"));
  const auto row_of = [&](std::size_t i) { return static_cast<std::size_t>(inputs[1][i]); };
  if (problem.direction != Direction::forward) {
    return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
      const auto i = static_cast<std::size_t>(position);
      return inputs[0][row_of(i / dim) * dim + i % dim];
    });
  }
  std::vector<double> sums = inputs[0];
  for (std::size_t i = 0; i < inputs[2].size(); ++i) {
    sums[row_of(i / dim) * dim + i % dim] += inputs[2][i];
  }
  return evaluate(problem.output().elements(), positions,
                  [&](std::int64_t position) { return sums[static_cast<std::size_t>(position)]; });
}

// A lookup is exact. A sum of values has random signs (as in reduction).
Tolerance tolerance(const Problem& problem) {
  if (problem.direction != Direction::forward) return {};
  const auto rows = static_cast<double>(problem.parameters.count("rows"));
  const double terms =
      1 + std::ceil(static_cast<double>(problem.parameters.count("indices")) / rows);
  return signed_sum_tolerance(problem.dtype, terms);
}

}  // namespace

extern const Operator scatter_add_operator;
const Operator scatter_add_operator =
    describe({.name = "scatter_add",
              .help = "rows are added to the rows of a table that indices name",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "rows",
              .directions = kDirections,
              .data_types = DataTypes::floating},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-scatter-add", .sentence = "sums: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
