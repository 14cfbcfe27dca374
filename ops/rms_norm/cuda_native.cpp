// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_norm_gradient.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/norm_gradient_form.hpp"
#include "ops/description.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> rms_norm_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel normalises plain tensors; leave `layout: nhwc` out");
  }
  if (problem.direction != Direction::forward) {
    NativeForm form = norm_gradient_form(problem, "mean_square");
    form.tensors = native_tensors(problem, MemoryLayout::plain);
    return form;
  }
  RmsNormPlan plan;
  plan.groups = quantity(problem, "groups");
  plan.size = quantity(problem, "size");
  plan.scale = tensor_number(problem, "scale");
  plan.destination = tensor_number(problem, "destination");
  plan.mean_square = tensor_number(problem, "mean_square");
  plan.epsilon = problem.parameters.real("epsilon");
  return plain_form(problem, "bench:rms_norm_block", "rms_norm", plan);
}

}  // namespace

extern const NativeEntry rms_norm_cuda_native;
const NativeEntry rms_norm_cuda_native = {
    .op = "rms_norm",
    .form = rms_norm_form,
    .host = {RmsNormPlan::kKernel, run_rows<RmsNormPlan>, run_norm_part<RmsNormPlan>}};

}  // namespace bench::ops::cuda
