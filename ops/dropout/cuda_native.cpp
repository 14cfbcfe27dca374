// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/dropout/dropout.hpp"
#include "ops/operator.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> dropout_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  DropoutPlan plan;
  const DropoutLimits limits = dropout_limits(problem.parameters);
  plan.gradient = problem.direction != Direction::forward;
  plan.threshold = limits.threshold;
  plan.seed = limits.seed;
  plan.scale = 1 / (1 - problem.parameters.real("p"));
  plan.elements = problem.output().elements();
  return plain_form(problem, "bench:dropout", "dropout", plan);
}

}  // namespace

extern const NativeEntry dropout_cuda_native;
const NativeEntry dropout_cuda_native = {
    .op = "dropout",
    .form = dropout_form,
    .host = {DropoutPlan::kKernel, run_rows<DropoutPlan>, run_row_part<DropoutPlan>}};

}  // namespace bench::ops::cuda
