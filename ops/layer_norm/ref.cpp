// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/layer_norm.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>
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

}  // namespace

std::vector<double> layer_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t /*output: there is one*/,
                                         std::span<const std::int64_t> positions) {
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  const auto size = static_cast<std::size_t>(shape.size);
  const std::size_t shift = shape.has_scale ? 2 : 1;
  // By group. The statistics of each group are computed once.
  std::unordered_map<std::size_t, GroupStatistics> group_statistics;
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const std::size_t group = index / size;
    const std::size_t index_in_group = index % size;
    auto entry = group_statistics.find(group);
    if (entry == group_statistics.end()) {
      const auto values = std::span(inputs[0]).subspan(group * size, size);
      entry = group_statistics.emplace(group, compute_statistics(values, shape.epsilon)).first;
    }
    double value = (inputs[0][index] - entry->second.mean) / entry->second.standard_deviation;
    if (shape.has_scale) value *= inputs[1][index_in_group];
    if (shape.has_shift) value += inputs[shift][index_in_group];
    return value;
  });
}

}  // namespace bench::ops
