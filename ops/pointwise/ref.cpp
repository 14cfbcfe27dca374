// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/pointwise/pointwise.hpp"

namespace bench::ops {
namespace {

// Returns the flat index of the operand's element that contributes to the element `position` of the
// result. `dims` are the operand's sizes, which broadcast to those of the result, `result`.
std::size_t find_operand_position(const Dims& result, const Dims& dims, std::int64_t position) {
  const std::size_t front = result.size() - dims.size();
  std::int64_t flat = 0;
  std::int64_t stride = 1;
  for (std::size_t i = result.size(); i-- > front;) {
    const std::int64_t index = position % result[i];
    position /= result[i];
    const std::int64_t size = dims[i - front];
    if (size > 1) flat += index * stride;
    stride *= size;
  }
  return static_cast<std::size_t>(flat);
}

}  // namespace

std::vector<double> pointwise_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t /*output: there is one*/,
                                        std::span<const std::int64_t> positions) {
  const Tensor& result = problem.tensors.back();
  const auto stored = [&](double value) { return stored_value(result.dtype, value); };
  const std::string& word = problem.parameters.word("function");
  if (const BinaryFunction* function = find_binary_function(word)) {
    return evaluate(result.elements(), positions, [&](std::int64_t position) {
      const std::size_t a = find_operand_position(result.dims, problem.tensors[0].dims, position);
      const std::size_t b = find_operand_position(result.dims, problem.tensors[1].dims, position);
      return stored(function->value(inputs[0][a], inputs[1][b]));
    });
  }
  const UnaryFunction& function = *find_unary_function(word);
  const PointwiseCoefficients coefficients = pointwise_coefficients(problem.parameters);
  const bool backward = problem.direction == Direction::backward_data;
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const double x = inputs[0][i];
    return backward ? function.derivative(x, coefficients.alpha, coefficients.beta) * inputs[1][i]
                    : stored(function.value(x, coefficients.alpha, coefficients.beta));
  });
}

}  // namespace bench::ops
