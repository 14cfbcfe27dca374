// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/reorder/reorder.hpp"

namespace bench::ops {
namespace {

// Returns the flat position in the source of the destination's element `position`. `strides` are
// those of the destination's axes in the source.
std::size_t source_position(const Dims& destination, const Dims& strides, std::int64_t position) {
  std::int64_t flat = 0;
  for (std::size_t d = destination.size(); d-- > 0;) {
    flat += position % destination[d] * strides[d];
    position /= destination[d];
  }
  return static_cast<std::size_t>(flat);
}

}  // namespace

Dims permuted_strides(const Problem& problem) {
  const Dims& shape = problem.tensors[0].dims;
  Dims strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  if (!problem.parameters.has("permutation")) return strides;
  Dims permuted;
  for (const std::int64_t axis : problem.parameters.numbers("permutation")) {
    permuted.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return permuted;
}

std::vector<double> reorder_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  const Tensor& result = problem.tensors.back();
  const Dims strides = permuted_strides(problem);
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    return stored_value(result.dtype, inputs[0][source_position(result.dims, strides, position)]);
  });
}

}  // namespace bench::ops
