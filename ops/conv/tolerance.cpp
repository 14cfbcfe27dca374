// SPDX-License-Identifier: Apache-2.0
#include "ops/tolerance.hpp"

#include "base/checked.hpp"
#include "ops/conv/conv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench::ops {
namespace {

// Returns the number of products in one element of the output, ignoring borders.
Checked count_terms(const ConvShape& shape, Direction direction) {
  Checked terms = direction == Direction::forward         ? shape.group_c()
                  : direction == Direction::backward_data ? shape.group_k()
                                                          : shape.n;
  for (const SpatialAxis& axis : shape.axes) {
    terms *=
        direction == Direction::backward_weights ? std::max(axis.input, axis.output) : axis.kernel;
  }
  return terms;
}

}  // namespace

Tolerance conv_tolerance(const Problem& problem) {
  const ConvShape shape = conv_shape(problem.parameters);
  const std::int64_t terms = count_terms(shape, problem.direction)
                                 .value()
                                 .value_or(std::numeric_limits<std::int64_t>::max());
  // Weights are scaled so that outputs are of order 1. A gradient of weights sums up unscaled
  // values.
  const bool scaled = problem.direction != Direction::backward_weights;
  return accumulation_tolerance(problem, terms, scaled ? 1 : std::sqrt(static_cast<double>(terms)));
}

}  // namespace bench::ops
