// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace bench::ops {
namespace {

// The elements that share one sum: `size` elements from `first` on that are `stride` apart.
struct SoftmaxRow {
  std::int64_t first;
  std::int64_t size;
  std::int64_t stride;
};

SoftmaxRow locate_row(const Problem& problem, std::int64_t position) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  const std::int64_t index = position / stride % shape[axis];
  return {.first = position - index * stride, .size = shape[axis], .stride = stride};
}

struct RowSum {
  double maximum;
  double sum;  // sum of exp(x - maximum)
};

RowSum sum_row(const std::vector<double>& source, const SoftmaxRow& row) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < row.size; ++i) {
    maximum = std::max(maximum, source[static_cast<std::size_t>(row.first + i * row.stride)]);
  }
  double sum = 0;
  for (std::int64_t i = 0; i < row.size; ++i) {
    sum += std::exp(source[static_cast<std::size_t>(row.first + i * row.stride)] - maximum);
  }
  return {.maximum = maximum, .sum = sum};
}

}  // namespace

std::vector<double> softmax_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  const std::vector<double>& source = inputs[0];
  std::unordered_map<std::int64_t, RowSum> sums;  // by first element; each row is summed once
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const SoftmaxRow row = locate_row(problem, position);
    auto entry = sums.find(row.first);
    if (entry == sums.end()) entry = sums.emplace(row.first, sum_row(source, row)).first;
    return std::exp(source[static_cast<std::size_t>(position)] - entry->second.maximum) /
           entry->second.sum;
  });
}

}  // namespace bench::ops
