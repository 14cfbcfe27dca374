// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/description.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> rope_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel rotates plain tensors; leave `layout: nhwc` out");
  }
  RopePlan plan;
  plan.heads = problem.parameters.count("batch") * problem.parameters.count("heads");
  plan.seq = problem.parameters.count("seq");
  plan.half = quantity(problem, "half");
  if (problem.direction == Direction::backward_data) plan.sign = -1;
  return plain_form(problem, "bench:rope_block", "rope", plan);
}

}  // namespace

extern const NativeEntry rope_cuda_native;
const NativeEntry rope_cuda_native = {
    .op = "rope",
    .form = rope_form,
    .host = {RopePlan::kKernel, run_rows<RopePlan>, run_row_part<RopePlan>}};

}  // namespace bench::ops::cuda
