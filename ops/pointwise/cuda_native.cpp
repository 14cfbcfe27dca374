// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/problem_elements.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <string>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> pointwise_form(const Problem& problem) {
  ProblemElements elements(problem, requested_layout(problem));
  const std::string& word = problem.parameters.word("function");
  elements.operand(0);
  if (const auto combination = find_combination(word)) {
    elements.planner().step(combine_step(*combination, elements.operand(1)));
    return elements.finish("binary");
  }
  const auto function = find_function(word);
  if (!function) return unsupported(fmt::format("there is no native kernel for `{}`", word));
  const PointwiseCoefficients coefficients = pointwise_coefficients(problem.parameters);
  ElementStep step = function_step(*function, coefficients.alpha, coefficients.beta);
  if (problem.direction != Direction::forward) {
    step.kind = ElementStep::Kind::gradient;
    step.operand = elements.operand(1);
  }
  elements.planner().step(step);
  return elements.finish("pointwise");
}

}  // namespace

extern const NativeEntry pointwise_cuda_native;
const NativeEntry pointwise_cuda_native = {.op = "pointwise", .form = pointwise_form};

}  // namespace bench::ops::cuda
