// SPDX-License-Identifier: Apache-2.0
// The operator embedding: rows of a table by their indices.
//   destination[i] = weights[indices[i]]
//   diff_weights[r] = sum of diff_destination[i] over all i with indices[i] = r
// The gradient is dense: rows without an index become 0.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"rows", "r", ParameterKind::count, kRequired, "rows of the table (the vocabulary)"},
    {"dim", "d", ParameterKind::count, kRequired, "elements of a row"},
    {"indices", "i", ParameterKind::count, kRequired,
     "rows that are looked up; none repeats until all were"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_weights};
constexpr Requirement kRequirements[] = {kIndexableRows};
constexpr Quantity kQuantities[] = {
    // The indices do not repeat before each row was named (ops/fill.hpp), so this is exact.
    {"rows_read", "min(rows, indices)", Quantity::Shown::yes, "forward"},
    // Each element of the gradient is added to its row.
    {"flops", "indices*dim", Quantity::Shown::yes, "backward_weights"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"weights", TensorRole::weights, "[rows, dim]", kOfCase, "forward", "rows_read*dim"},
    {"diff_destination", TensorRole::input, "[indices, dim]", kOfCase, "backward_weights"},
    {"indices", TensorRole::input, "[indices]", ElementType::index, {}, {}, "rows"},
    {"destination", TensorRole::output, "[indices, dim]", kOfCase, "forward"},
    {"diff_weights", TensorRole::output, "[rows, dim]", kOfCase, "backward_weights"},
};
constexpr std::string_view kExamples[] = {"r1000d64i128", "r7d33i40", "r3d1i5"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto dim = static_cast<std::size_t>(problem.parameters.count("dim"));
  const std::int64_t elements = problem.tensors.back().elements();
  const auto row_of = [&](std::size_t i) { return static_cast<std::size_t>(inputs[1][i]); };
  if (problem.direction == Direction::forward) {
    return evaluate(elements, positions, [&](std::int64_t position) {
      const auto i = static_cast<std::size_t>(position);
      return inputs[0][row_of(i / dim) * dim + i % dim];
    });
  }
  std::unordered_map<std::size_t, std::vector<std::size_t>> places;  // by row: where it is named
  for (std::size_t i = 0; i < inputs[1].size(); ++i) places[row_of(i)].push_back(i);
  return evaluate(elements, positions, [&](std::int64_t position) {
    const auto at = static_cast<std::size_t>(position);
    double sum = 0;
    const auto named = places.find(at / dim);
    if (named == places.end()) return sum;
    for (const std::size_t i : named->second) sum += inputs[0][i * dim + at % dim];
    return sum;
  });
}

// A lookup is exact. A gradient is a sum of values with random signs (as in reduction).
Tolerance tolerance(const Problem& problem) {
  if (problem.direction == Direction::forward) return {};
  const auto rows = static_cast<double>(problem.parameters.count("rows"));
  const double terms = std::ceil(static_cast<double>(problem.parameters.count("indices")) / rows);
  return signed_sum_tolerance(problem.dtype, terms);
}

}  // namespace

extern const Operator embedding_operator;
const Operator embedding_operator =
    describe({.name = "embedding",
              .help = "rows of a table by their indices, and the gradient of the table",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "rows",
              .directions = kDirections,
              .data_types = DataTypes::floating},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-embedding",
                          .sentence = "copies of rows, or sums: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
