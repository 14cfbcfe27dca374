// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/description.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> rms_norm_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel normalises plain tensors; leave `layout: nhwc` out");
  }
  RmsNormPlan plan;
  plan.groups = quantity(problem, "groups");
  plan.size = quantity(problem, "size");
  if (problem.parameters.flag("scale")) plan.scale = 1;
  plan.destination = static_cast<int>(problem.tensors.size()) - 1;
  plan.type = to_element(problem.dtype);
  plan.epsilon = problem.parameters.real("epsilon");
  plan.precision = to_precision(problem.dtype);
  return NativeForm{"bench:rms_norm_block", "rms_norm", NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain)};
}

}  // namespace

extern const NativeEntry rms_norm_cuda_native;
const NativeEntry rms_norm_cuda_native = {
    .op = "rms_norm",
    .form = rms_norm_form,
    .host = {RmsNormPlan::kKernel, run_rows<RmsNormPlan>, run_row_part<RmsNormPlan>}};

}  // namespace bench::ops::cuda
