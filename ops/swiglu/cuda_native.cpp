// SPDX-License-Identifier: Apache-2.0
#include "ops/swiglu/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> swiglu_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  SwigluPlan plan;
  plan.elements = problem.tensors[0].elements();
  if (problem.direction != Direction::forward) plan.function = SwigluPlan::Function::gradient;
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  return NativeForm{"bench:swiglu", "swiglu", NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain)};
}

}  // namespace

extern const NativeEntry swiglu_cuda_native;
const NativeEntry swiglu_cuda_native = {
    .op = "swiglu",
    .form = swiglu_form,
    .host = {SwigluPlan::kKernel, run_rows<SwigluPlan>, run_row_part<SwigluPlan>}};

}  // namespace bench::ops::cuda
