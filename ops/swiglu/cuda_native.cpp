// SPDX-License-Identifier: Apache-2.0
#include "ops/swiglu/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
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
  return plain_form(problem, "bench:swiglu", "swiglu", plan);
}

}  // namespace

extern const NativeEntry swiglu_cuda_native;
const NativeEntry swiglu_cuda_native = {
    .op = "swiglu",
    .form = swiglu_form,
    .host = {SwigluPlan::kKernel, run_rows<SwigluPlan>, run_row_part<SwigluPlan>}};

}  // namespace bench::ops::cuda
