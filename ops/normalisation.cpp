// SPDX-License-Identifier: Apache-2.0
#include "ops/normalisation.hpp"

#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace bench::ops {
namespace {

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

// Roundings that the tolerance allows: difference, root, quotient, product and sum, each on
// operands of order 1, and those of the two sums. The signs of n roundings in a sum are random, so
// together they count as the square root of n.
constexpr double kRoundings = 32;
// Groups of this size and above have a variance near 1/3, that of the inputs (ops/fill.hpp). The
// elements of a smaller group may be almost equal. Its quotient then enlarges the error of the
// difference, up to a limit that epsilon determines.
constexpr std::int64_t kLargeGroup = 64;

}  // namespace

std::vector<double> normalise_groups(
    const Problem& problem, ReferenceInputs inputs, std::span<const std::int64_t> positions,
    const std::function<std::size_t(std::size_t index)>& parameter_index) {
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
    if (has_scale) value *= inputs[1][parameter_index(index)];
    if (has_shift) value += inputs[has_scale ? 2 : 1][parameter_index(index)];
    return value;
  });
}

Tolerance normalisation_tolerance(const Problem& problem) {
  const std::int64_t size = quantity(problem, "size");
  const double epsilon = problem.parameters.real("epsilon");
  const double error_factor = size >= kLargeGroup ? 2 : 1 / std::sqrt(std::min(1.0, epsilon));
  const double roundings = kRoundings + 4 * std::sqrt(static_cast<double>(size));
  return rounding_tolerance(problem.dtype, roundings * error_factor, 0);
}

}  // namespace bench::ops
