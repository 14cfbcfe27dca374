// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/problem_elements.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> batch_norm_form(const Problem& problem) {
  ProblemElements elements(problem, requested_layout(problem));
  elements.operand(0);
  const int mean = elements.channels(1);
  ElementStep normalise;
  normalise.kind = ElementStep::Kind::normalise;
  normalise.operand = elements.channels(2);
  normalise.alpha = problem.parameters.real("epsilon");
  const int scale = elements.channels(3);
  const int shift = elements.channels(4);
  elements.planner().step(combine_step(Combination::sub, mean));
  elements.planner().step(normalise);
  elements.planner().step(combine_step(Combination::mul, scale));
  elements.planner().step(combine_step(Combination::add, shift));
  return elements.finish("batch_norm");
}

}  // namespace

extern const NativeEntry batch_norm_cuda_native;
const NativeEntry batch_norm_cuda_native = {.op = "batch_norm", .form = batch_norm_form};

}  // namespace bench::ops::cuda
