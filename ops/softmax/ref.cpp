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
  double maximum = 0;
  double sum = 0;
};

// Calls visit(index of an element) along the row.
template <class Visit>
void for_each_in(const SoftmaxRow& row, Visit visit) {
  for (std::int64_t i = 0; i < row.size; ++i) {
    visit(static_cast<std::size_t>(row.first + i * row.stride));
  }
}

// The sum of exp(x - maximum), or of the gradient's terms.
RowSum sum_row(const Problem& problem, ReferenceInputs inputs, const SoftmaxRow& row) {
  RowSum result;
  if (problem.direction == Direction::backward_data) {
    const bool is_log = problem.parameters.flag("log");
    for_each_in(row, [&](std::size_t i) {
      result.sum += is_log ? inputs[1][i] : inputs[0][i] * inputs[1][i];
    });
    return result;
  }
  result.maximum = -std::numeric_limits<double>::infinity();
  for_each_in(row, [&](std::size_t i) { result.maximum = std::max(result.maximum, inputs[0][i]); });
  for_each_in(row, [&](std::size_t i) { result.sum += std::exp(inputs[0][i] - result.maximum); });
  return result;
}

double row_result(const Problem& problem, ReferenceInputs inputs, std::size_t i,
                  const RowSum& row) {
  const bool is_log = problem.parameters.flag("log");
  const double x = inputs[0][i];
  if (problem.direction == Direction::backward_data) {
    const double diff = inputs[1][i];
    return is_log ? diff - std::exp(x) * row.sum : x * (diff - row.sum);
  }
  return is_log ? x - row.maximum - std::log(row.sum) : std::exp(x - row.maximum) / row.sum;
}

}  // namespace

std::vector<double> softmax_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  std::unordered_map<std::int64_t, RowSum> sums;  // by first element; each row is summed once
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const SoftmaxRow row = locate_row(problem, position);
    auto entry = sums.find(row.first);
    if (entry == sums.end()) entry = sums.emplace(row.first, sum_row(problem, inputs, row)).first;
    return row_result(problem, inputs, static_cast<std::size_t>(position), entry->second);
  });
}

}  // namespace bench::ops
